"""The language a page is written in."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from indexer.sketches import count_words

_ENOUGH = 60
"""Words: what is shorter is in the language it is declared to be in, whatever it looks like."""
_CERTAIN = 0.99
_LIKELY = 0.6
_CHARACTERS = 3000
_NO_LANGUAGE = "zxx"
_TAG = re.compile(r"([a-z]{2,3})(?:[-_].*)?", re.IGNORECASE | re.DOTALL)
_FAMILIES = (
    ("no", "nb", "nn"), ("id", "ms"), ("hr", "sr", "bs", "sh"), ("zh", "yue", "wuu"), ("tl", "fil"), ("da", "no", "nb"),
    ("gl", "pt"), ("cs", "sk"), ("bg", "mk"), ("af", "nl"), ("hi", "mr", "ne"), ("ca", "oc"),
)  # fmt: skip
"""Languages that identification mistakes for one another: a declared one of these is believed."""


def primary_language(tag: str) -> str | None:
    """The primary subtag of a language tag; None for what is none."""
    found = _TAG.fullmatch(tag.strip())
    return found[1].lower() if found else None


def page_language(declared: str | None, prose: str) -> str:
    """The language of the prose as its primary subtag: as declared, unless a long enough text clearly is in another;
    "und" where nothing tells."""
    if count_words(prose) < _ENOUGH:
        return declared or "und"
    found, certainty = _identifier().classify(prose[:_CHARACTERS])
    if found == _NO_LANGUAGE or certainty < _LIKELY:
        return declared or "und"
    alike = any(declared in family and found in family for family in _FAMILIES)
    return str(found) if declared is None or (certainty >= _CERTAIN and not alike) else declared


@cache
def _identifier() -> Any:
    # Half a second to load, and of no use to a page that declares its language and says little.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
