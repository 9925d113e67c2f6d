"""What only the embedded engine can do wrong: folders, locks, kills, torn files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import pytest

from indexer.errors import StoreMismatch, StoreUnavailable
from indexer.records import Point
from indexer.vectors import Vectors, VectorStore, open_store

DIMENSIONS = 8

CHILD = """
import sys
from tests.vectors.test_edge import some_points
from indexer.vectors import open_store

store = open_store(sys.argv[1], "pages", 8)
store.upsert(some_points(2000))
store.delete(point.id for point in some_points(500))
store.claim("ours", 1)
store.flush()
print("flushed", flush=True)
while True:
    store.upsert(some_points(500, key="later"))
    store.delete(point.id for point in some_points(500))
    store.flush()
"""


def directions(count: int) -> Vectors:
    drawn = np.random.default_rng(count).normal(size=(count, DIMENSIONS))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def some_points(count: int, key: str = "key") -> list[Point]:
    vectors = directions(2000)
    return [Point(str(uuid5(NAMESPACE_URL, str(n))), key, f"/{n}", "en", vectors[n]) for n in range(count)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    opened = open_store(tmp_path, "pages", DIMENSIONS)
    yield opened
    opened.close()


def test_killed_it_holds_everything_that_was_flushed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD, tmp_path], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "flushed\n"
        child.kill()
    store = open_store(tmp_path, "pages", DIMENSIONS)
    kept = some_points(2000)[500:]
    assert {n: key for n, key in store.keys().items() if key == "key"} == {point.id: "key" for point in kept}
    got = store.get(point.id for point in kept)
    assert [got[point.id].vector.tobytes() for point in kept] == [point.vector.tobytes() for point in kept]
    assert store.owner() == ("ours", 1)
    store.close()


def test_who_holds_it_is_not_disturbed_and_the_other_is_told(tmp_path: Path, store: VectorStore) -> None:
    store.upsert(some_points(3))
    with pytest.raises(StoreUnavailable, match=r"another process holds the vector store .*pages: wait"):
        open_store(tmp_path, "pages", DIMENSIONS)
    assert len(store.keys()) == 3
    store.close()
    again = open_store(tmp_path, "pages", DIMENSIONS)
    assert len(again.keys()) == 3
    again.close()


def test_the_answers_stay_exact_while_points_come_and_go(tmp_path: Path) -> None:
    store, points = open_store(tmp_path, "pages", DIMENSIONS), some_points(2000)
    for start in range(0, 2000, 400):
        store.upsert(points[start : start + 400])
        store.delete(point.id for point in points[start : start + 250])
        store.flush()
    left = [point for n, point in enumerate(points) if n % 400 >= 250]
    vectors = np.stack([point.vector for point in left])
    expected = -np.sort(-(vectors @ vectors.T), axis=1)[:, :10]
    assert set(store.keys()) == {point.id for point in left}
    np.testing.assert_allclose(
        [[h.score for h in hits] for hits in store.nearest(vectors, "en", 10)], expected, atol=1e-6
    )
    store.close()


def test_a_kill_while_it_was_made_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    half = tmp_path / "pages.part" / "segments"
    half.mkdir(parents=True)
    (half / "torn").write_bytes(b"\0")
    store = open_store(tmp_path, "pages", DIMENSIONS)
    store.upsert(some_points(1))
    assert len(store.keys()) == 1
    store.drop()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["edge_config.json", "status.dat", "segment.json"])
def test_torn_files_are_named_with_what_to_do(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    store = open_store(tmp_path, "pages", DIMENSIONS)
    store.upsert(some_points(10))
    store.close()
    torn = list(tmp_path.rglob(name))
    for file in torn:
        file.write_bytes(b"")
    assert torn
    with pytest.raises(StoreUnavailable, match=r"delete that folder and run `indexer sync`") as caught:
        open_store(tmp_path, "pages", DIMENSIONS)
    assert caught.value.__cause__ is not None
    capfd.readouterr()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match=r"cannot be written \(Not a directory\).*set store.vectors"):
        open_store(tmp_path / "file", "pages", DIMENSIONS)


def test_vectors_of_another_size_are_refused(tmp_path: Path, store: VectorStore) -> None:
    longer = Point(some_points(1)[0].id, "key", "/", "en", np.ones(DIMENSIONS + 1, dtype=np.float32))
    with pytest.raises(StoreMismatch, match=r"another size.*delete that folder"):
        store.upsert([longer])
    assert store.keys() == {}
    store.upsert(some_points(1))
    with pytest.raises(StoreMismatch):
        store.nearest(np.stack([longer.vector]), "en", 5)


def test_a_collection_of_another_model_can_be_dropped(tmp_path: Path) -> None:
    """A run lets go of the collection of the model before, and opens it knowing its own model only."""
    open_store(tmp_path, "pages", DIMENSIONS).close()
    open_store(tmp_path, "pages", DIMENSIONS + 1).drop()
    assert list(tmp_path.iterdir()) == []


def test_closed_it_says_so(store: VectorStore) -> None:
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.keys()


def test_each_engine_is_imported_only_where_it_is_used(tmp_path: Path) -> None:
    """qdrant-client takes almost two seconds to import."""
    asked = (
        "import sys; import indexer.vectors as v; assert not {'qdrant_edge', 'qdrant_client'} & set(sys.modules);"
        f"v.open_store({str(tmp_path)!r}, 'pages', 8).close();"
        "assert 'qdrant_edge' in sys.modules; assert 'qdrant_client' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)
