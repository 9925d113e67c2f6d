"""Pages are read in processes of their own, which may die."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from indexer.extract.rules import ExtractRules
from indexer.records import Document, Failed, Fetched
from indexer.sync.reading import ProcessReader, ReadingRules
from indexer.urls import make_site
from tests.support.embedders import WordCounter


class DeadlyCounter(WordCounter):
    """Counting a text with the deadly word ends the process, as a fault in a parser would."""

    def count(self, texts: Sequence[str]) -> list[int]:
        if any("deadly" in text for text in texts):
            os._exit(1)
        return super().count(texts)


def test_a_page_that_kills_its_process_fails_alone() -> None:
    site = make_site("https://example.com/")
    bodies = {f"https://example.com/{n}": f"<p>Harmless words, number {n}.</p>".encode() for n in range(6)}
    bodies["https://example.com/3"] = b"<p>The deadly word.</p>"

    async def read_all() -> list[Document | Failed]:
        async with ProcessReader(ReadingRules(site, ExtractRules(), DeadlyCounter), processes=2) as reader:
            found = [await reader.read(Fetched(url, body)) for url, body in bodies.items()]
            together = asyncio.gather(*(reader.read(Fetched(url, body)) for url, body in list(bodies.items())[:3]))
            return [*found, *await together]

    found = asyncio.run(read_all())
    assert [isinstance(one, Failed) for one in found] == [False] * 3 + [True] + [False] * 5
    assert isinstance(found[3], Failed)
    assert "its process died twice" in found[3].reason
    assert isinstance(found[0], Document)
    assert found[0].passages[0].text == "Harmless words, number 0."
