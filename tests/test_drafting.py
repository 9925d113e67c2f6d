"""Advice on a draft is what the sync after its publication says, and asking for it leaves no trace."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from indexer.errors import StateError, UsageError
from indexer.links import ranking
from indexer.links.choosing import Limits
from indexer.links.review import Verdict
from indexer.records import SuggestionRow
from indexer.state.writing import State, open_state, snapshot
from indexer.sync import Parts, Request, linking, run
from indexer.sync.drafting import advise, draft
from indexer.sync.reviewing import review
from tests.support.embedders import HashingEmbedder
from tests.support.stores import ModelStore
from tests.support.toysite import SITE, TOY_LINKS, ToyPage, ToySite, toy_document, toy_parts
from tests.test_incremental import a_page

NEW = f"{SITE.base}drafted"
ROOMY = replace(TOY_LINKS, limits=Limits(4, 6, 2, True, None, frozenset()), fingerprint="roomy")


def bare(rows: Any) -> list[SuggestionRow]:
    """Suggestions without what only the index has: a history."""
    return [replace(row, suggestion=row.suggestion._replace(first_seen="")) for row in rows]


def index(site: ToySite, state: State, **changes: Any) -> Parts:
    store = ModelStore()
    parts = toy_parts(site, HashingEmbedder(), lambda _: store, **changes)
    asyncio.run(run(parts, state, Request()))
    return parts


@pytest.fixture
def _limits_that_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the tests of incremental runs: lists that are full, and statistics that stay."""
    monkeypatch.setattr(ranking, "LEXICAL", 2)
    monkeypatch.setattr(ranking, "TITLED", 2)
    monkeypatch.setattr(linking, "_STALE", 1.0)


@pytest.mark.usefixtures("_limits_that_bind")
@settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(12, 18),
    page=st.integers(0, 10**6).map(a_page),
    policy=st.sampled_from((TOY_LINKS, ROOMY)),
    verdicts=st.lists(st.sampled_from((Verdict.ACCEPT, Verdict.REJECT)), max_size=4),
)
def test_a_draft_is_told_what_the_sync_after_its_publication_says(
    seed: int, size: int, page: ToyPage, policy: Any, verdicts: list[Verdict]
) -> None:
    page = replace(page, canonical=None, noindex=False)
    site = ToySite({f"{SITE.base}{'p' * (n % 3)}{n}": a_page(seed + n) for n in range(size)})
    with tempfile.TemporaryDirectory() as directory, open_state(Path(directory) / "indexer.db") as state:
        parts = index(site, state, links=policy)
        for verdict, row in zip(verdicts, list(state.reads.suggestions()), strict=False):
            review(state, row.suggestion.id, verdict, "", "now")
        asyncio.run(run(parts, state, Request()))
        document = toy_document(NEW, page)
        vectors = np.stack([parts.embedder.embed([p.text])[0] for p in document.passages])
        model = state.embeddings.model(parts.fingerprint)
        told = advise(state, model, parts.rule, policy, document, vectors)
        site.pages[NEW] = page
        asyncio.run(run(parts, state, Request()))
        stored = state.reads.page([NEW])
        assert stored is not None
        # A page with the very same text may be there already, and stand for the new one.
        assume(stored.status == "indexed" and not any(p.stands_for == NEW for p in state.reads.pages()))
        assert bare(told.outgoing) == bare(state.reads.suggestions(source=NEW))
        assert bare(told.incoming) == bare(state.reads.suggestions(target=NEW))


@pytest.fixture
def apiary(tmp_path: Path) -> Path:
    """The database of a site about bees."""
    pages = {
        "hives": ToyPage("Hives", ("A hive holds queen rearing frames and honey.", "Paint the hive white in May.")),
        "queens": ToyPage("Queen rearing", ("Queen rearing begins in May with young larvae.",)),
        "honey": ToyPage("Honey", ("Honey is taken in July and strained twice.",)),
    }
    path = tmp_path / "indexer.db"
    with open_state(path) as state:
        index(ToySite({f"{SITE.base}{name}": page for name, page in pages.items()}), state, links=ROOMY)
    return path


DRAFT = "Varroa mites\nVarroa mites weaken a colony before queen rearing starts.\nStrained honey hides none of it."


def ask(path: Path, text: str, embedder: HashingEmbedder | None = None) -> Any:
    with snapshot(path) as state:
        parts = toy_parts(ToySite(), embedder or HashingEmbedder(), ModelStore, links=ROOMY)
        return draft(parts, state, text, "draft.txt")


def test_a_draft_is_told_where_to_link_and_on_which_words(apiary: Path) -> None:
    found = {row.suggestion.target: row.suggestion for row in ask(apiary, DRAFT).outgoing}
    assert found[f"{SITE.base}queens"].anchor == "queen rearing"
    assert found[f"{SITE.base}queens"].paragraph == DRAFT.splitlines()[1]


def test_asking_leaves_no_trace(apiary: Path) -> None:
    before = apiary.read_bytes()
    ask(apiary, DRAFT)
    assert apiary.read_bytes() == before
    assert not apiary.with_name("indexer.db-wal").exists() or not apiary.with_name("indexer.db-wal").read_bytes()


def test_what_the_index_holds_an_embedding_of_is_not_embedded_again(apiary: Path) -> None:
    embedder = HashingEmbedder()
    ask(apiary, "Honey\nHoney is taken in July and strained twice.\nWax is rendered in autumn.", embedder)
    assert embedder.embedded == ["Honey\nWax is rendered in autumn."]


def test_a_draft_that_stands_on_the_site_already_is_told_so(apiary: Path) -> None:
    found = ask(apiary, "Honey\nHoney is taken in July and strained twice.")
    assert [note for note in found.notes if f"{SITE.base}honey" in note]
    assert f"{SITE.base}honey" not in {row.suggestion.target for row in found.outgoing}


def test_a_draft_of_a_few_words_is_refused(apiary: Path) -> None:
    with pytest.raises(UsageError, match=r"2 words.*extract\.min_words"):
        ask(apiary, "Bees\nTwo words")


def test_without_an_index_the_first_sync_is_asked_for(tmp_path: Path) -> None:
    with open_state(tmp_path / "empty.db"):
        pass
    with pytest.raises(StateError, match="indexer sync"):
        ask(tmp_path / "empty.db", DRAFT)
    with pytest.raises(StateError, match="indexer sync"):
        ask(tmp_path / "nowhere.db", DRAFT)
