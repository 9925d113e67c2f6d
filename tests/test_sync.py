"""Whole runs over HTTP: what a sync does with a site that changes, and with one that fails."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from indexer.errors import SiteUnreachable, UsageError
from indexer.state.reads import open_reads
from indexer.state.writing import open_state
from indexer.sync.holding import holding
from tests.conftest import TEXT, a_site
from tests.support.program import Program
from tests.support.qdrant import standing_in
from tests.support.web import Page, Server, html, redirect


def indexed(program: Program) -> set[str]:
    return {path for path, page in program.pages().items() if page["status"] == "indexed"}


def new_page(n: int) -> Page:
    return html(f"Page {n}", TEXT.format(n=n), f"Only here: topic{n}.")


def test_the_first_sync_indexes_every_page_with_neighbours(program: Program) -> None:
    summary = program.sync()
    assert (summary.new, summary.failed, summary.exit_code) == (12, 0, 0)
    tables = program.export()
    assert {row["status"] for row in tables["pages"]} == {"indexed"}
    assert {row["url"] for row in tables["neighbours"]} == {row["url"] for row in tables["pages"]}


def test_a_second_sync_asks_once_a_page_and_does_nothing(server: Server, program: Program) -> None:
    program.sync()
    server.site.forget()
    program.embedder.embedded.clear()
    summary = program.sync()
    pages = [path for path in server.site.asked if path not in ("/robots.txt", "/sitemap.xml")]
    assert sorted(pages) == sorted(server.site.pages)
    assert server.site.conditional == server.site.statuses[304] == len(pages)
    assert program.embedder.embedded == []
    assert (summary.unchanged, summary.embedded_passages, summary.lists_asked, summary.texts_read) == (12, 0, 0, 0)


def test_a_changed_page_costs_its_changed_passages(server: Server, program: Program) -> None:
    program.sync()
    program.embedder.embedded.clear()
    server.site.pages["/page3"] = html("Page 3", "A wholly new text about varroa mites. " * 10)
    summary = program.sync()
    assert (summary.changed, summary.unchanged, summary.gone) == (1, 11, 0)
    assert all("varroa" in text for text in program.embedder.embedded)


def test_one_url_is_synced_before_any_sitemap_lists_it(server: Server, program: Program) -> None:
    program.sync()
    server.site.pages["/fresh"] = new_page(99)
    server.site.unlisted.add("/fresh")
    server.site.forget()
    summary = program.sync(f"{server.base}/fresh")
    assert (summary.seen, summary.new) == (1, 1)
    assert server.site.asked == ["/robots.txt", "/fresh"]
    assert "/fresh" in indexed(program)
    assert "/fresh" in indexed_after(program), "a page that answers stays, listed or not"


def indexed_after(program: Program) -> set[str]:
    program.sync()
    return indexed(program)


def test_a_moved_page_keeps_its_vectors(server: Server, program: Program) -> None:
    program.sync()
    program.embedder.embedded.clear()
    server.site.pages["/new-place"] = server.site.pages.pop("/page5")
    server.site.pages["/page5"] = redirect("/new-place")
    summary = program.sync()
    assert (summary.moved, summary.new, summary.gone) == (1, 0, 0)
    assert program.embedder.embedded == []
    pages = program.pages()
    assert (pages["/page5"]["status"], pages["/new-place"]["status"]) == ("redirect", "indexed")


def test_a_page_that_is_gone_is_offered_to_nobody_at_once(server: Server, program: Program) -> None:
    program.sync()
    del server.site.pages["/page7"]
    server.site.pages["/"] = html("Home", TEXT.format(n=0), "Everything about bees stands here.")
    assert program.sync().gone == 1
    neighbours = program.export()["neighbours"]
    assert not any(row["neighbour_url"].endswith("/page7") or row["url"].endswith("/page7") for row in neighbours)


# --- faults ---------------------------------------------------------------------------------------------------------


def test_an_outage_loses_nothing(server: Server, program: Program) -> None:
    program.sync()
    before = program.export()
    server.site.down = True
    assert program.sync().exit_code == 3
    assert program.export() == before
    server.site.down = False
    recovered = program.sync()
    assert (recovered.exit_code, recovered.unchanged) == (0, 12)


def test_pages_that_all_fail_are_given_up_soon(server: Server, program: Program) -> None:
    program.sync()
    before = program.export()
    server.site.failing = set(server.site.pages)
    server.site.forget()
    assert program.sync().exit_code == 3
    assert server.site.statuses[503] < 30, "the host was asked on and on"
    assert program.export() == before


def test_half_the_pages_failing_loses_nothing(server: Server, program: Program) -> None:
    program.sync()
    before = indexed(program)
    server.site.failing = {f"/page{n}" for n in range(1, 12, 2)}
    summary = program.sync()
    assert summary.exit_code == 3
    assert summary.failed
    assert indexed(program) == before


@pytest.mark.parametrize("fault", ["empty", "truncated", "missing"])
def test_a_sitemap_that_breaks_loses_nothing(server: Server, program: Program, fault: str) -> None:
    program.sync()
    before = indexed(program)
    server.site.sitemap = fault
    assert program.sync().exit_code == (0 if fault == "empty" else 3)
    assert indexed(program) == before
    server.site.sitemap = "whole"
    server.site.pages["/late"] = new_page(50)
    summary = program.sync()
    assert (summary.exit_code, summary.new) == (0, 1)


def test_robots_that_forbid_everything_hold_the_removals_back(server: Server, program: Program) -> None:
    program.sync()
    before = indexed(program)
    server.site.robots = "User-agent: *\nDisallow: /\n"
    summary = program.sync()
    assert (summary.exit_code, summary.held) == (4, 12)
    assert indexed(program) == before
    server.site.robots = ""
    assert program.sync().exit_code == 0


def test_a_release_that_deletes_most_pages_is_held_back_until_allowed(server: Server, program: Program) -> None:
    program.sync()
    before = indexed(program)
    for n in range(1, 9):
        del server.site.pages[f"/page{n}"]
    server.site.pages["/late"] = new_page(50)
    server.site.pages["/"] = html("Home", TEXT.format(n=0), "Everything about bees stands here.")
    summary = program.sync()
    assert (summary.exit_code, summary.held, summary.gone, summary.new) == (4, 8, 0, 1)
    assert indexed(program) == before | {"/late"}
    with open_reads(program.config.store.state) as reads:
        assert len(reads.held_back()) == 8
    allowed = program.sync(allow_removals=True)
    assert (allowed.exit_code, allowed.gone) == (0, 8)
    assert indexed(program) == {"/", "/page9", "/page10", "/page11", "/late"}


def test_a_maintenance_page_everywhere_empties_no_index(server: Server, program: Program) -> None:
    program.sync()
    notice = html("Maintenance", "We are improving this site for you and will be back with you very soon. " * 4)
    whole = dict(server.site.pages)
    server.site.pages = dict.fromkeys(whole, notice)
    assert program.sync().exit_code == 4
    assert len(indexed(program)) == 12
    server.site.pages = whole
    assert program.sync().exit_code == 0
    assert {page["title"] for page in program.pages().values()} == {"Home", *(f"Page {n}" for n in range(1, 12))}


def test_a_noindex_on_every_page_is_held_back(server: Server, program: Program) -> None:
    program.sync()
    for path, page in server.site.pages.items():
        server.site.pages[path] = Page(page.body, headers=(("X-Robots-Tag", "noindex"),))
    server.site.etags = False
    assert program.sync().exit_code == 4
    assert len(indexed(program)) == 12


def test_a_site_that_refuses_is_one_clear_line(tmp_path: Path) -> None:
    with Server(a_site()) as stopped:
        base = stopped.base
    with pytest.raises(SiteUnreachable, match=r"cannot be reached .*check `site`"):
        Program(tmp_path, base).sync()


def test_a_site_that_does_not_resolve_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(SiteUnreachable, match="does not resolve: check `site`"):
        Program(tmp_path, "http://no-such-host.invalid/").sync()


# --- where pages come from ------------------------------------------------------------------------------------------


def test_a_site_without_a_sitemap_is_crawled(server: Server, program: Program) -> None:
    server.site.sitemap = "missing"
    assert program.sync().new == 12
    server.site.pages["/deep"] = new_page(70)
    server.site.pages["/page4"] = html("Page 4", TEXT.format(n=4), links=("/deep",))
    assert program.sync().new == 1
    assert "/deep" in indexed(program)


def test_a_crawl_finds_pages_from_pages_that_did_not_change(server: Server, program: Program) -> None:
    server.site.sitemap = "missing"
    server.site.pages["/page4"] = html("Page 4", TEXT.format(n=4), links=("/later",))
    program.sync()
    server.site.pages["/later"] = new_page(71)
    assert program.sync().new == 1


def sitemap(server: Server, *paths: str) -> Page:
    return Page("\n".join(server.base + path for path in paths).encode(), "text/plain")


def test_a_feed_that_is_not_configured_any_more_is_not_missed(server: Server, tmp_path: Path) -> None:
    item = f"<item><link>{server.base}/page1</link></item>"
    server.site.pages["/feed.xml"] = Page(f"<rss version='2.0'><channel>{item}</channel></rss>".encode(), "text/xml")
    program = Program(tmp_path, server.base, discover={"feeds": [f"{server.base}/feed.xml"]})
    assert program.sync().exit_code == 0
    del server.site.pages["/feed.xml"]
    assert program.sync().exit_code == 3
    program.configure(site=server.base)
    assert program.sync().exit_code == 0


def test_a_sitemap_that_moves_is_followed(server: Server, program: Program) -> None:
    program.sync()
    server.site.sitemap = "missing"
    assert program.sync().exit_code == 3
    server.site.pages["/late"] = new_page(50)
    server.site.pages["/new.xml"] = sitemap(server, *(path for path in server.site.pages if path != "/new.xml"))
    server.site.robots = f"Sitemap: {server.base}/new.xml"
    summary = program.sync()
    assert (summary.exit_code, summary.new) == (0, 1)
    del server.site.pages["/new.xml"]
    assert program.sync().exit_code == 3


def test_a_sync_of_one_url_forgets_no_sitemap(server: Server, program: Program) -> None:
    program.sync()
    program.sync("/page1")
    server.site.sitemap = "missing"
    assert program.sync().exit_code == 3


def test_what_robots_named_counts_while_robots_cannot_be_read(server: Server, tmp_path: Path) -> None:
    program = Program(tmp_path, server.base, fetch={"obey_robots": False})
    server.site.robots = f"Sitemap: {server.base}/listed.xml"
    server.site.pages["/listed.xml"] = sitemap(server, "/page1")
    assert program.sync().exit_code == 0
    server.site.failing = {"/robots.txt", "/listed.xml"}
    assert program.sync().exit_code == 3
    server.site.failing = {"/robots.txt"}
    assert program.sync().exit_code == 0


def test_globs_leave_pages_out(server: Server, tmp_path: Path) -> None:
    program = Program(tmp_path, server.base, discover={"exclude": ["/page1*"]})
    program.sync()
    assert indexed(program) == {"/", *(f"/page{n}" for n in range(2, 10))}


def test_redirects_and_forwarding_pages_lead_to_one_page(server: Server, program: Program) -> None:
    server.site.pages["/old"] = redirect("/older")
    server.site.pages["/older"] = redirect("/page1")
    server.site.pages["/stub"] = Page(b'<meta http-equiv="refresh" content="0; url=/page2"><title>Moved</title>')
    server.site.pages["/circle"] = redirect("/circle2")
    server.site.pages["/circle2"] = redirect("/circle")
    server.site.pages["/abroad"] = redirect("https://elsewhere.example/")
    assert program.sync().exit_code == 0
    statuses = {path: page["status"] for path, page in program.pages().items()}
    assert [statuses[path] for path in ("/old", "/older", "/stub", "/circle", "/abroad")] == [
        "redirect", "redirect", "redirect", "redirect", "skipped",
    ]  # fmt: skip


def test_every_spelling_of_a_page_is_one_page(server: Server, program: Program) -> None:
    body = server.site.pages["/page1"]
    server.site.pages |= {"/page1/": body, "/page1?utm_source=letter": body, "/docs/": new_page(80)}
    server.site.pages["/docs/index.html"] = server.site.pages["/docs/"]
    program.sync()
    pages = program.pages()
    assert pages["/page1"]["status"] == "indexed"
    assert pages["/page1/"]["status"] == "duplicate"
    assert "/page1?utm_source=letter" not in pages
    assert "/docs/index.html" not in pages


# --- two at once, other settings ------------------------------------------------------------------------------------


def test_a_second_sync_waits_and_reads_answer_meanwhile(program: Program, caplog: pytest.LogCaptureFixture) -> None:
    program.sync()
    config = program.config
    second = threading.Thread(target=program.sync)
    with holding(config.store.state, program_now()):
        second.start()
        second.join(timeout=0.5)
        assert second.is_alive(), "the second sync did not wait"
        with open_reads(config.store.state) as reads:
            assert len(list(reads.pages())) == 12
    second.join()
    assert "has been syncing this index since" in caplog.text


def program_now():  # type: ignore[no-untyped-def]
    from datetime import UTC, datetime

    return datetime.now(UTC)


def test_another_length_of_lists_asks_for_every_list(program: Program) -> None:
    program.sync()
    program.configure(site=program.config.site, neighbours={"keep": 2})
    summary = program.sync()
    assert (summary.lists_asked, summary.embedded_passages) == (12, 0)
    rows = program.export()["neighbours"]
    assert max(row["rank"] for row in rows) == 2


def test_a_lost_vector_store_is_filled_again_without_embedding(program: Program) -> None:
    import shutil

    program.sync()
    before = program.export()["neighbours"]
    shutil.rmtree(program.folder / "vectors")
    program.embedder.embedded.clear()
    program.configure(site=program.config.site, neighbours={"keep": 19})
    program.sync()
    assert program.embedder.embedded == []
    assert program.export()["neighbours"] == before


def test_a_url_of_another_site_is_refused(program: Program) -> None:
    from indexer.cli.syncing import page_urls

    with pytest.raises(UsageError, match="no page of"):
        page_urls(program.config, ["https://elsewhere.example/x"])


def test_a_second_model_is_filled_beside_the_first_and_takes_over(program: Program) -> None:
    program.sync()
    before = program.export()["neighbours"]
    program.fingerprint = "hashing-2"
    embedded = len(program.embedder.embedded)
    assert program.sync().embedded_passages == embedded
    assert [path.name for path in (program.folder / "vectors").iterdir()] == ["hashing-2"]
    with open_state(program.config.store.state) as state:
        assert state.db.execute("SELECT count(DISTINCT model) FROM embeddings").fetchone() == (1,)
    assert program.export()["neighbours"] == before


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning")
@pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning")
def test_two_sites_on_one_qdrant_server(tmp_path: Path) -> None:
    with standing_in() as qdrant, Server(a_site()) as one, Server(a_site(8)) as other:
        programs = []
        for number, web in enumerate((one, other)):
            (tmp_path / str(number)).mkdir()
            programs.append(Program(tmp_path / str(number), web.base, store={"vectors": qdrant.address}))
        assert [program.sync().exit_code for program in programs] == [0, 0]
        one.site.pages["/page3"] = new_page(77)
        assert [program.sync().changed for program in programs] == [1, 0]
        with Server(a_site()) as twin:
            twin.site.pages = one.site.pages
            (tmp_path / "embedded").mkdir()
            embedded = Program(tmp_path / "embedded", twin.base)
            embedded.sync()
            strip = [
                [
                    (row["url"].rpartition("/")[2], row["neighbour_url"].rpartition("/")[2], row["similarity"])
                    for row in rows
                ]
                for rows in (programs[0].export()["neighbours"], embedded.export()["neighbours"])
            ]
        assert strip[0] == strip[1]
