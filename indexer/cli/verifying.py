"""Comparing both stores, and mending the one that can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from indexer.cli.building import rule_of, store_of
from indexer.cli.output import Silence
from indexer.config import Config
from indexer.embed import find_model
from indexer.state.writing import open_state
from indexer.sync import mend
from indexer.sync.fill import differences
from indexer.sync.holding import holding


@dataclass(frozen=True, slots=True)
class Found:
    """What the comparison showed, in a sentence, and whether all is well now."""

    sentence: str
    whole: bool


def verify(config: Config, repair: bool) -> Found:
    """Compare the points of both stores, and with `repair` make the vector store hold what the state says."""
    model = find_model(config.embed.model)
    with holding(config.store.state, datetime.now(UTC)), open_state(config.store.state) as state:
        number = state.embeddings.model(model.fingerprint)
        store = store_of(config, model, model.fingerprint)
        try:
            wrong, foreign = differences(state, store, number)
            points = len(state.embeddings.stored_keys(number))
            if not wrong and not foreign:
                return Found(f"both stores agree: {points} pages", True)
            faults = f"{len(wrong)} of {points} pages are missing or stale, {len(foreign)} do not belong there"
            if not repair:
                return Found(f"the vector store differs: {faults}; `indexer verify --repair` mends it", False)
            mend(state, store, number, rule_of(config, model), Silence())
            return Found(f"mended: {faults}", True)
        finally:
            store.close()
