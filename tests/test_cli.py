"""The program as people call it: exit codes, what goes where, and what it says when something is wrong."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.cli import main
from tests.support.program import Program
from tests.support.web import Server


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `indexer` with these arguments."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_page_is_found_however_its_address_is_spelled(
    program: Program, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    program.sync()
    host = server.base.removeprefix("http://")
    for spelling in (
        "/page1",
        "page1",
        f"{host}/page1",
        f"{server.base}/page1/",
        f"{server.base}/page1?utm_source=x#y",
    ):
        code, out, _ = call(capsys, "neighbours", spelling, "--config", program.path, "--format", "json", "-n", "3")
        rows = json.loads(out)
        assert code == 0
        assert [row["rank"] for row in rows] == [1, 2, 3]
        assert {row["url"] for row in rows} == {f"{server.base}/page1"}


def test_an_unknown_page_gets_the_nearest_known_ones_as_a_hint(
    program: Program, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    program.sync()
    code, out, err = call(capsys, "neighbours", "/pgae11", "--config", program.path)
    assert (code, out) == (2, "")
    assert f"{server.base}/page11" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_data_goes_to_stdout_in_every_format(program: Program, capsys: pytest.CaptureFixture[str], form: str) -> None:
    program.sync()
    code, out, err = call(capsys, "neighbours", "/page2", "--config", program.path, "--format", form, "-n", "2")
    assert (code, err) == (0, "")
    rows = {
        "json": lambda: json.loads(out),
        "jsonl": lambda: [json.loads(line) for line in out.splitlines()],
        "csv": lambda: list(csv.DictReader(io.StringIO(out))),
        "table": lambda: out.splitlines()[1:],
    }[form]()
    assert len(rows) == 2


def test_exports_are_the_same_from_run_to_run(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    program.sync()
    texts = []
    for name in ("one", "two"):
        assert call(capsys, "export", program.folder / name, "--config", program.path)[0] == 0
        texts.append({file.name: file.read_bytes() for file in (program.folder / name).iterdir()})
    assert texts[0] == texts[1]
    pages = list(csv.DictReader(io.StringIO(texts[0]["pages.csv"].decode())))
    assert list(pages[0])[:7] == [
        "url", "title", "language", "words", "inlinks_content", "inlinks_all", "outlinks_content",
    ]  # fmt: skip
    assert (pages[0]["outlinks_content"], pages[1]["inlinks_content"], pages[1]["depth"]) == ("11", "1", "1")
    inlinks = list(csv.DictReader(io.StringIO(texts[0]["inlinks.csv"].decode())))
    assert {(row["Anchor"], row["Status Code"], row["Link Position"]) for row in inlinks} == {
        ("this page", "200", "Content")
    }


def test_the_plan_changes_nothing(program: Program, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    program.sync()
    before = program.export()
    server.site.pages["/fresh"] = server.site.pages["/page1"]
    del server.site.pages["/page2"]
    code, out, _ = call(capsys, "sync", "--dry-run", "--config", program.path, "--format", "json", "--no-progress")
    assert code == 0
    assert {(row["change"], row["url"].removeprefix(server.base)) for row in json.loads(out)} == {
        ("new", "/fresh"), ("gone", "/page2"),
    }  # fmt: skip
    assert program.export() == before


def test_status_says_what_was_held_back(program: Program, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    program.sync()
    server.site.robots = "User-agent: *\nDisallow: /\n"
    program.sync()
    code, out, _ = call(capsys, "status", "--config", program.path)
    assert code == 0
    assert out.count("held back: ") == 12
    assert "forbidden by robots.txt" in out


def test_init_writes_a_configuration_that_works(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "init", server.base)[0] == 0
    assert call(capsys, "status") == (
        1, "", f"indexer: there is no index at {Path('data/indexer.db')} yet: run `indexer sync` first\n",
    )  # fmt: skip
    code, _, err = call(capsys, "init", server.base)
    assert code == 2
    assert "is there already" in err


def test_a_missing_configuration_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "status", "--config", tmp_path / "none.yaml")
    assert (code, out) == (2, "")
    assert "indexer init" in err


def test_a_broken_vector_store_is_found_and_mended(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the real model's collection, filled with the vectors that the state holds."""
    from dataclasses import replace

    from indexer.embed import find_model
    from indexer.vectors import open_store
    from tests.bench.made_up import MadeUpEmbedder

    program = Program(tmp_path, server.base)
    program.fingerprint, program.dimensions, program.embedder = (
        find_model("all-MiniLM-L6-v2").fingerprint, 384, MadeUpEmbedder(),
    )  # fmt: skip
    program.configure(site=server.base, neighbours={"min_similarity": -1})
    program.sync()
    before = program.export()["neighbours"]
    assert call(capsys, "verify", "--config", program.path)[:2] == (0, "both stores agree: 12 pages\n")
    store = open_store(tmp_path / "vectors", program.fingerprint, 384)
    ids = sorted(store.keys())
    store.delete(ids[:3])
    store.upsert([replace(store.get(ids[3:4])[ids[3]], key="another")])
    store.close()
    code, out, _ = call(capsys, "verify", "--config", program.path)
    assert code == 1
    assert "4 of 12" in out
    assert call(capsys, "verify", "--repair", "--config", program.path)[0] == 0
    assert call(capsys, "verify", "--config", program.path)[0] == 0
    assert program.export()["neighbours"] == before


def test_nothing_heavy_is_imported_where_nothing_changed(program: Program, tmp_path: Path) -> None:
    """Neither the model's libraries nor the parsers, in a process that syncs an unchanged site."""
    from indexer.embed import find_model
    from tests.bench.made_up import MadeUpEmbedder

    program.fingerprint, program.dimensions, program.embedder = (
        find_model("all-MiniLM-L6-v2").fingerprint, 384, MadeUpEmbedder(),
    )  # fmt: skip
    program.configure(site=program.config.site)
    program.sync()
    code = (
        "import sys, json\nfrom indexer.cli import main\n"
        f"try: main(['sync', '--config', {str(program.path)!r}, '--format', 'json'])\n"
        "except SystemExit as end: print(json.dumps(sorted(sys.modules))); raise"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    summary, modules = map(json.loads, done.stdout.splitlines())
    assert (summary["unchanged"], summary["embedded_passages"], summary["lists_asked"]) == (12, 0, 0)
    heavy = {
        "torch",
        "sentence_transformers",
        "transformers",
        "trafilatura",
        "lxml",
        "datasketch",
        "qdrant_client",
        "qdrant_edge",
    }
    assert not heavy & set(modules)
