"""How values lie in the database: texts as compressed JSON, vectors as little-endian floats."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from indexer.records import Block, BlockKind, Link, Span, SpanKind, Zone

Vector = npt.NDArray[np.float32]


def pack_blocks(blocks: Sequence[Block]) -> bytes:
    return _pack([(b.kind, b.text, b.spans) for b in blocks])


def unpack_blocks(data: bytes) -> tuple[Block, ...]:
    return tuple(
        Block(BlockKind(kind), text, tuple(Span(SpanKind(s[0]), *s[1:]) for s in spans))
        for kind, text, spans in json.loads(zlib.decompress(data))
    )


def pack_links(links: Iterable[Link]) -> bytes:
    return _pack(list(links))


def unpack_links(data: bytes) -> tuple[Link, ...]:
    rows = json.loads(zlib.decompress(data))
    return tuple(Link(target, internal, anchor, Zone(zone), *rest) for target, internal, anchor, zone, *rest in rows)


def pack_vector(vector: Vector) -> bytes:
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def unpack_vectors(blobs: Sequence[bytes]) -> Vector:
    """The vectors as rows; an empty array of shape (0, 0) for none."""
    if not blobs:
        return np.zeros((0, 0), dtype=np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)


def _pack(value: object) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 3)
