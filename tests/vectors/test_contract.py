"""What is promised of a vector store, of every one."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import NAMESPACE_URL, uuid4, uuid5

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.records import Point
from indexer.vectors import Vectors, VectorStore
from tests.support.places import PLACES, Open

pytestmark = [
    # qdrant-client's in-process engine says what it does without; none of it changes an answer.
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]

DIMENSIONS = 4
LANGUAGES = ("en", "de", "")
quick = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(params=PLACES)
def opening(request: pytest.FixtureRequest) -> Iterator[Open]:
    with PLACES[request.param]() as open_it:
        yield open_it


@pytest.fixture
def store(opening: Open) -> Iterator[VectorStore]:
    opened = opening(DIMENSIONS)
    yield opened
    opened.close()


def an_id(number: int) -> str:
    return str(uuid5(NAMESPACE_URL, str(number)))


def unit(*numbers: float) -> Vectors:
    vector = np.array(numbers, dtype=np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def a_point(number: int, vector: Vectors | None = None, language: str = "en", key: str = "key") -> Point:
    return Point(
        an_id(number), key, f"https://a.example/{number}", language, unit(1, 2, 3, number) if vector is None else vector
    )


# Few directions, so that many scores are equal.
vectors = st.tuples(*[st.integers(-1, 1)] * DIMENSIONS).filter(any).map(lambda numbers: unit(*numbers))
points = st.builds(a_point, st.integers(0, 30), vectors, st.sampled_from(LANGUAGES), st.sampled_from("abc"))


def as_values(point: Point) -> tuple[str, str, str, str, bytes]:
    return point.id, point.key, point.url, point.language, point.vector.tobytes()


# --- what goes in -----------------------------------------------------------------------------------------------------


def test_a_new_collection_is_empty(store: VectorStore) -> None:
    assert store.keys() == {}
    assert store.owner() is None
    assert store.get([an_id(1)]) == {}
    assert [list(found) for found in store.nearest(np.stack([unit(1, 0, 0, 0)] * 2), "en", 5)] == [[], []]


def test_a_point_comes_back_as_it_was_put_in(store: VectorStore) -> None:
    put = a_point(1, language="pt-br", key="a" * 64)
    store.upsert([put])
    assert as_values(store.get([put.id])[put.id]) == as_values(put)


def test_vectors_keep_every_bit(opening: Open) -> None:
    store, dice = opening(384), np.random.default_rng(3)
    drawn = dice.normal(size=(20, 384))
    put = [a_point(n, unit(*row)) for n, row in enumerate(drawn)]
    store.upsert(put)
    store.flush()
    got = store.get([point.id for point in put])
    assert [got[point.id].vector.tobytes() for point in put] == [point.vector.tobytes() for point in put]
    assert got[put[0].id].vector.dtype == np.float32
    store.close()


def test_a_point_of_the_same_id_is_replaced_whole(store: VectorStore) -> None:
    store.upsert([a_point(1, unit(1, 0, 0, 0), "en", "old")])
    store.upsert([new := a_point(1, unit(0, 1, 0, 0), "de", "new")])
    assert as_values(store.get([new.id])[new.id]) == as_values(new)
    assert store.keys() == {new.id: "new"}
    assert list(store.nearest(np.stack([new.vector]), "en", 5)[0]) == []


def test_of_two_points_of_one_id_the_later_stays(store: VectorStore) -> None:
    store.upsert([a_point(1, key="old"), a_point(2), a_point(1, key="new")])
    assert store.keys() == {an_id(1): "new", an_id(2): "key"}


def test_what_is_put_in_and_taken_out_may_come_from_iterators(store: VectorStore) -> None:
    store.upsert(a_point(n) for n in range(5))
    store.delete(an_id(n) for n in range(3))
    assert set(store.get(an_id(n) for n in range(5))) == {an_id(3), an_id(4)}


def test_taking_out_what_is_not_there_is_no_fault(store: VectorStore) -> None:
    store.upsert([a_point(1)])
    store.delete([str(uuid4()), an_id(2)])
    store.delete([])
    store.upsert([])
    assert set(store.keys()) == {an_id(1)}


def test_ids_that_are_not_there_are_left_out(store: VectorStore) -> None:
    store.upsert([a_point(1)])
    assert set(store.get([an_id(2), an_id(1), str(uuid4())])) == {an_id(1)}
    assert store.get([]) == {}


def test_the_keys_of_thousands_of_points(store: VectorStore) -> None:
    expected = {an_id(n): f"key {n}" for n in range(10_500)}
    store.upsert(a_point(n, key=key) for n, key in enumerate(expected.values()))
    assert store.keys() == expected


def test_any_sequence_of_writes_leaves_what_a_dictionary_would_hold(opening: Open) -> None:
    writes = st.lists(
        st.one_of(st.lists(points, max_size=6), st.sets(st.integers(0, 30).map(an_id)), st.none()), max_size=8
    )
    store = opening(DIMENSIONS)

    @quick
    @given(writes)
    def check(writes: list[list[Point] | set[str] | None]) -> None:
        nonlocal store
        store.delete(store.keys())
        held: dict[str, Point] = {}
        for write in writes:
            if write is None:
                store.close()
                store = opening(DIMENSIONS)
            elif isinstance(write, set):
                store.delete(write)
                held = {n: point for n, point in held.items() if n not in write}
            else:
                store.upsert(write)
                held |= {point.id: point for point in write}
        assert store.keys() == {n: point.key for n, point in held.items()}
        got = store.get([an_id(n) for n in range(31)])
        assert {n: as_values(point) for n, point in got.items()} == {n: as_values(p) for n, p in held.items()}

    check()
    store.close()


# --- what is found ----------------------------------------------------------------------------------------------------


def test_the_nearest_are_those_numpy_finds(opening: Open) -> None:
    store = opening(DIMENSIONS)

    @quick
    @given(
        st.lists(points, max_size=40),
        st.lists(vectors, min_size=1, max_size=4),
        st.sampled_from(LANGUAGES),
        st.integers(1, 45),
    )
    def check(put: list[Point], asked: list[Vectors], language: str, limit: int) -> None:
        store.delete(store.keys())
        store.upsert(put)
        held = {point.id: point for point in put}
        there = {n: point.vector.astype(np.float64) for n, point in held.items() if point.language == language}
        for vector, hits in zip(asked, store.nearest(np.stack(asked), language, limit), strict=True):
            scores = {n: float(other @ vector.astype(np.float64)) for n, other in there.items()}
            assert len({hit.id for hit in hits}) == len(hits) == min(limit, len(there))
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits], abs=1e-6)
            assert [hit.score for hit in hits] == pytest.approx(
                sorted(scores.values(), reverse=True)[: len(hits)], abs=1e-6
            )

    check()
    store.close()


def test_many_vectors_are_answered_in_their_order(store: VectorStore) -> None:
    angles = np.linspace(0, np.pi, 140)
    put = [a_point(n, unit(np.cos(a), np.sin(a), 0, 0)) for n, a in enumerate(angles)]
    store.upsert(put)
    found = store.nearest(np.stack([point.vector for point in put]), "en", 1)
    assert [hits[0].id for hits in found] == [point.id for point in put]


def test_no_vectors_no_answers(store: VectorStore) -> None:
    assert list(store.nearest(np.empty((0, DIMENSIONS), dtype=np.float32), "en", 5)) == []


# --- whose it is, and its life ----------------------------------------------------------------------------------------


def test_the_owner_is_the_one_who_claimed_it_last(opening: Open) -> None:
    store = opening(DIMENSIONS)
    store.claim("one", 1)
    store.claim("another", 2)
    assert store.owner() == ("another", 2)
    store.close()
    store = opening(DIMENSIONS)
    assert store.owner() == ("another", 2)
    store.close()


def test_the_claim_is_no_point(store: VectorStore) -> None:
    store.claim("one", 1)
    store.upsert([a_point(1, unit(1, 0, 0, 0))])
    assert store.keys() == {an_id(1): "key"}
    for language in LANGUAGES:
        found = store.nearest(np.stack([unit(1, 0, 0, 0)]), language, 5)[0]
        assert [hit.id for hit in found] == ([an_id(1)] if language == "en" else [])


def test_the_claim_stays_when_every_point_goes(store: VectorStore) -> None:
    store.upsert([a_point(1)])
    store.claim("one", 7)
    store.delete(store.keys())
    store.flush()
    assert store.keys() == {}
    assert store.owner() == ("one", 7)


def test_everything_is_there_when_it_is_opened_again(opening: Open) -> None:
    store = opening(DIMENSIONS)
    store.upsert([a_point(1), a_point(2, language="de")])
    store.delete([an_id(1)])
    store.close()
    store = opening(DIMENSIONS)
    assert {n: as_values(p) for n, p in store.get(store.keys()).items()} == {
        an_id(2): as_values(a_point(2, language="de"))
    }
    store.close()


def test_closing_twice_is_no_fault(opening: Open) -> None:
    store = opening(DIMENSIONS)
    store.close()
    store.close()


def test_nothing_is_left_of_a_dropped_collection(opening: Open) -> None:
    store = opening(DIMENSIONS)
    store.upsert([a_point(1)])
    store.claim("one", 1)
    store.drop()
    store = opening(DIMENSIONS)
    assert store.keys() == {}
    assert store.owner() is None
    store.close()
