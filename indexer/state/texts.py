"""How blocks and links lie in the database: as compressed JSON."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence

from indexer.records import Block, BlockKind, Link, Span, SpanKind, Zone


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


def digest(title: str, language: str, blocks: bytes, links: bytes) -> str:
    """Names what a page says and links to: another title, text or link, and it is another name."""
    said = (title.encode("utf-8", "replace"), language.encode(), blocks, links)
    return hashlib.blake2b(b"\0".join(said), digest_size=12).hexdigest()


def _pack(value: object) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 3)
