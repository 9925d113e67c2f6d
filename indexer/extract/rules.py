"""What a site's people say about where the text of their pages is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractRules:
    """CSS selectors: whose text is the page's, and what is taken away before."""

    content: str | None = None
    remove: tuple[str, ...] = ()
