"""From neighbours, names and the link graph to suggestions: which page should link to which, and where."""
