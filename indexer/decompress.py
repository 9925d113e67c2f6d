"""Bodies as they come over the wire, decompressed no further than allowed and only believed when they are whole."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, Iterable
from typing import Protocol

import brotli  # type: ignore[import-untyped]


class TooLarge(Exception):
    """A body that, decompressed, is larger than allowed."""


class Unreadable(Exception):
    """A body that cannot be decompressed, or breaks off: the server is well, and what it said is not known."""


async def read_body(chunks: AsyncIterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """The whole body, decompressed. Raises TooLarge as soon as it is larger than `max_bytes`, and Unreadable where it
    cannot be decompressed to its end.

    An HTTP client would decompress a chunk whole before anybody could look at its size: 64 KB of brotli can hold
    gigabytes.
    """
    decoder = _decoder(encoding, max_bytes)
    parts: list[bytes] = []
    size = received = 0
    try:
        async for chunk in chunks:
            received += len(chunk)
            for part in decoder.take(chunk):
                parts.append(part)
                size += len(part)
                if size > max_bytes:
                    raise TooLarge
    except (zlib.error, brotli.error) as error:
        raise Unreadable(f"says it is {encoding}-encoded and is not: {error}") from error
    # Half a page would count as a changed one.
    if received and not decoder.at_end():
        raise Unreadable(f"breaks off: the {encoding} stream has no end")
    return b"".join(parts)


class _Decoder(Protocol):
    def take(self, chunk: bytes) -> Iterable[bytes]: ...
    def at_end(self) -> bool: ...


def _decoder(encoding: str, max_bytes: int) -> _Decoder:
    match encoding.strip().lower():
        case "gzip" | "x-gzip":
            return _Inflate(zlib.MAX_WBITS | 16, max_bytes)
        case "deflate":
            return _Inflate(zlib.MAX_WBITS, max_bytes)
        case "br":
            return _Unbrotli(max_bytes)
        case "" | "identity":
            return _Plain()
        case _:
            raise Unreadable(f"is {encoding}-encoded, which was not asked for")


class _Plain:
    def take(self, chunk: bytes) -> Iterable[bytes]:
        return (chunk,)

    def at_end(self) -> bool:
        return True


class _Inflate:
    def __init__(self, window: int, max_bytes: int) -> None:
        self._zlib, self._limit, self._first = zlib.decompressobj(window), max_bytes + 1, True

    def take(self, chunk: bytes) -> Iterable[bytes]:
        try:
            part = self._zlib.decompress(chunk, self._limit)
        except zlib.error:
            if not self._first:
                raise
            # "deflate" without the zlib header, as some servers send it.
            self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
            part = self._zlib.decompress(chunk, self._limit)
        self._first = False
        return (part,)

    def at_end(self) -> bool:
        return self._zlib.eof


class _Unbrotli:
    def __init__(self, max_bytes: int) -> None:
        self._brotli, self._limit = brotli.Decompressor(), max_bytes + 1

    def take(self, chunk: bytes) -> Iterable[bytes]:
        yield self._brotli.process(chunk, output_buffer_limit=self._limit)
        while not self._brotli.can_accept_more_data():
            yield self._brotli.process(b"", output_buffer_limit=self._limit)

    def at_end(self) -> bool:
        return bool(self._brotli.is_finished())
