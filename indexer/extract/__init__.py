"""HTML to a Document. `document` does it and loads its parsers; `rules` is what to hand it, and loads nothing."""
