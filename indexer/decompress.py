"""Bodies decompressed no further than allowed: a few kilobytes can hold gigabytes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable

import brotli  # type: ignore[import-untyped]

DECOMPRESSION_ERRORS = (zlib.error, brotli.error)
"""What broken compressed bytes raise."""


def decoder(encoding: str, max_bytes: int) -> Callable[[bytes], Iterable[bytes]]:
    """Takes chunks as they come over the wire, and gives parts of the body: never much more than `max_bytes` at once.

    `encoding` is a Content-Encoding; an unknown one leaves the bytes as they are. Raises DECOMPRESSION_ERRORS.
    """
    match encoding.strip().lower():
        case "gzip" | "x-gzip":
            return _Inflate(zlib.MAX_WBITS | 16, max_bytes)
        case "deflate":
            return _Inflate(zlib.MAX_WBITS, max_bytes)
        case "br":
            return _Unbrotli(max_bytes)
        case _:
            return lambda chunk: (chunk,)


class _Inflate:
    def __init__(self, window: int, max_bytes: int) -> None:
        self._zlib, self._limit, self._first = zlib.decompressobj(window), max_bytes + 1, True

    def __call__(self, chunk: bytes) -> Iterable[bytes]:
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


class _Unbrotli:
    def __init__(self, max_bytes: int) -> None:
        self._brotli, self._limit = brotli.Decompressor(), max_bytes + 1

    def __call__(self, chunk: bytes) -> Iterable[bytes]:
        yield self._brotli.process(chunk, output_buffer_limit=self._limit)
        while not self._brotli.can_accept_more_data():
            yield self._brotli.process(b"", output_buffer_limit=self._limit)
