"""An evaluation from the configuration and the state database."""

from __future__ import annotations

from indexer.cli.building import link_policy
from indexer.cli.output import Bars, Lines
from indexer.config import Config
from indexer.embed import find_model
from indexer.records import Evaluation
from indexer.state.writing import snapshot
from indexer.sync.evaluating import evaluate


def evaluation(config: Config, share: float, seed: int, shown: Bars | Lines) -> Evaluation:
    """How many of the site's own links come back when they are hidden."""
    with snapshot(config.store.state) as state, shown:
        model = state.embeddings.indexed_model(find_model(config.embed.model).fingerprint)
        return evaluate(state, model, link_policy(config), share, seed, shown)
