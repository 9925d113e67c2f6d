"""An explanation from the configuration and the state database."""

from __future__ import annotations

from indexer.cli.building import link_policy
from indexer.config import Config
from indexer.embed import find_model
from indexer.state.writing import snapshot
from indexer.sync.explaining import Explanation, explain


def explanation(config: Config, source: str, target: str) -> Explanation:
    """Why one page should, or should not, link to another."""
    with snapshot(config.store.state) as state:
        model = state.embeddings.indexed_model(find_model(config.embed.model).fingerprint)
        return explain(state, model, link_policy(config), source, target)
