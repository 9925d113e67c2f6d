"""The whole program with the real model, as a user starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.web import html

ABOUT = {
    "mites": "Varroa mites weaken a colony of bees. Count them on the bottom board before you treat the hive.",
    "swarms": "A swarm of bees leaves with the old queen. Give the colony room in time, and cut out queen cells.",
    "honey": "Honey is harvested when the bees have capped the combs. Extract it warm and let it settle.",
    "tax": "Income tax returns are due in May. Keep receipts for travel, and declare interest from savings accounts.",
    "vat": "Value added tax is charged on invoices. Small businesses may be exempt below a yearly turnover.",
}


def indexer(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from indexer.cli import main; main()"]
    return subprocess.run([*program, *arguments], cwd=folder, capture_output=True, text=True, check=True)


def test_pages_about_the_same_thing_are_neighbours(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    for name, words in ABOUT.items():
        (tmp_path / "public" / f"{name}.html").write_bytes(html(name.title(), words, words).body)
    indexer(tmp_path, "init", "public")
    first = json.loads(indexer(tmp_path, "sync", "--format", "json", "--no-progress").stdout)
    assert (first["new"], first["embedded_passages"]) == (5, 5)
    second = json.loads(indexer(tmp_path, "sync", "--format", "json", "--no-progress").stdout)
    assert (second["unchanged"], second["embedded_passages"], second["lists_asked"]) == (5, 0, 0)

    def nearest(name: str) -> set[str]:
        rows = json.loads(indexer(tmp_path, "neighbours", f"/{name}.html", "--format", "json").stdout)
        return {row["neighbour_title"] for row in rows}

    assert nearest("mites") == {"Swarms", "Honey"}
    assert nearest("tax") == {"Vat"}
