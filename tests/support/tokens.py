"""The real model's token counter."""

from __future__ import annotations

from indexer.embed import WordPieces, find_model


def real_counter() -> WordPieces:
    """Counts as all-MiniLM-L6-v2 does."""
    return find_model("all-MiniLM-L6-v2").counter()
