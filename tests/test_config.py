"""config.yaml: what it means, what it may not say, and how it says so."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.config import Config, load, starter
from indexer.errors import ConfigError

SITE = "site: https://www.example.com/\n"

FAULTS = {
    "site": ("www.example.com", "an address that begins with http:// or https://, or a folder that exists"),
    "base_url": ("ftp://example.com/", "an address that begins with http:// or https://"),
    "hosts": ("['https://blog.example.com/']", "a host name such as blog.example.com, without scheme or path"),
    "discover.sitemaps": ("https://example.com/sitemap.xml", "a list"),
    "discover.feeds": ("['http://[bad/']", "an address that begins with http:// or https://"),
    "discover.urls": ("''", "a file"),
    "discover.crawl": ("maybe", "true or false"),
    "discover.include": ("['']", "a pattern such as /blog/*"),
    "discover.exclude": ("['  ']", "a pattern such as /blog/*"),
    "fetch.user_agent": ("''", "something: it is empty"),
    "fetch.concurrency": ("65", "a number from 1 to 64"),
    "fetch.delay": ("-1", "a number from 0 to 60"),
    "fetch.timeout": ("soon", "a number from 1 to 60"),
    "fetch.max_bytes": ("9999", "a number of 10000 or more"),
    "fetch.headers": ("{'X Y': z}", "a header's name: letters, digits and hyphens"),
    "fetch.obey_robots": ("7", "true or false"),
    "extract.content": ("'main >'", "a CSS selector"),
    "extract.remove": ("[.ad, 'b[']", "a CSS selector"),
    "extract.min_words": ("true", "a whole number of 0 or more"),
    "embed.model": ("3", "text"),
    "embed.batch": ("1.5", "a whole number from 1 to 1024"),
    "neighbours.keep": ("201", "a number from 1 to 200"),
    "neighbours.min_similarity": ("-1.1", "a number from -1 to 1"),
    "links.per_page": ("[]", "a whole number of 0 or more"),
    "links.per_target": ("-1", "a number of 0 or more"),
    "links.per_paragraph": ("0", "a number of 1 or more"),
    "links.both_ways": ("both", "true or false"),
    "links.max_density": ("thick", "a number of 0 or more"),
    "links.min_score": ("1.01", "a number from 0 to 1"),
    "links.never_from": ("/legal/*", "a list"),
    "links.never_to": ("[3]", "text"),
    "links.never_anchor": ("['']", "something"),
    "links.min_words": ("-1", "a number of 0 or more"),
    "links.always_to": ("['']", "a pattern such as /blog/*"),
    "links.phrases": ("[]", "names with values"),
    "links.ignore_orphans": ("['']", "a pattern such as /blog/*"),
    "links.priority": ("['']", "a pattern such as /blog/*"),
    "store.state": (".", "a file"),
    "store.vectors": ("grpc://localhost", "a folder, or a server's address that begins with http:// or https://"),
    "store.api_key": ("12345", "text"),
    "store.timeout": ("0", "a number from 1 to 600"),
    "safety.max_removed": ("few", "a whole number of 0 or more"),
    "safety.max_removed_share": ("1.5", "a number from 0 to 1"),
    "safety.gone_after": ("0", "a number of 1 or more"),
    "daemon.every": ("0 25 * * *", "a time such as 30m, 1h or 1d, or a cron line of five fields"),
    "daemon.listen": ("localhost", "a host and a port, such as 127.0.0.1:8080"),
    "daemon.token": ("''", "something"),
    "daemon.webhooks": ("[hooks.example.com]", "an address that begins with http:// or https://"),
}


def read(folder: Path, text: str, **environ: str) -> Config:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path, environ)


def faults(folder: Path, text: str, **environ: str) -> list[str]:
    """The message's lines after the first, without the file's path: "LINE: KEY: WHAT"."""
    with pytest.raises(ConfigError) as raised:
        read(folder, text, **environ)
    first, *rest = str(raised.value).split("\n  ")
    assert first == f"{folder / 'config.yaml'} has {len(rest)} fault{'s' * (len(rest) != 1)}:"
    return [line.removeprefix(f"{folder / 'config.yaml'}:") for line in rest]


def one_fault(folder: Path, text: str, **environ: str) -> str:
    (fault,) = faults(folder, text, **environ)
    return fault


def every_key() -> set[str]:
    keys: set[str] = set()
    for name, value in Config.model_fields.items():
        inner = getattr(value.annotation, "model_fields", None)
        keys |= {f"{name}.{key}" for key in inner} if inner else {name}
    return keys


# --- what it means ----------------------------------------------------------------------------------------------------


def test_every_key_but_the_site_has_a_default(tmp_path: Path) -> None:
    config = read(tmp_path, SITE)
    assert config.fetch.concurrency == 8
    assert config.neighbours.min_similarity is None
    assert config.safety.gone_after == 3
    assert config.daemon.every == "1h"


def test_a_section_whose_keys_are_all_commented_out_has_its_defaults(tmp_path: Path) -> None:
    assert read(tmp_path, SITE + "fetch:\n#  delay: 3\n") == read(tmp_path, SITE)


def test_the_keys_that_the_quality_bench_writes_are_understood(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        SITE + "links: {per_page: 10, per_target: 1000, per_paragraph: 10, both_ways: true, max_density: null,"
        " min_score: 0}\n",
    )
    assert config.links.max_density is None
    assert config.links.per_target == 1000


def test_nothing_of_it_can_be_changed(tmp_path: Path) -> None:
    config = read(tmp_path, SITE)
    for owner, key in ((config, "site"), (config.fetch, "delay")):
        with pytest.raises(ValueError, match="frozen"):
            setattr(owner, key, "other")


def test_relative_paths_begin_at_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "models/mine").mkdir(parents=True)
    config = read(
        tmp_path, "site: public\ndiscover: {urls: urls.txt}\nembed: {model: models/mine}\nstore: {state: a.db}\n"
    )
    assert config.folder == tmp_path / "public"
    assert config.discover.urls == tmp_path / "urls.txt"
    assert config.embed.model == str(tmp_path / "models/mine")
    assert config.store.state == tmp_path / "a.db"
    assert config.store.vectors == str(tmp_path / "data/vectors")


def test_absolute_paths_addresses_and_models_elsewhere_stay_as_they_are(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    config = read(
        tmp_path,
        f"site: {elsewhere}\nembed: {{model: intfloat/e5-small}}\nstore: {{vectors: 'http://localhost:6333'}}\n",
    )
    assert config.folder == elsewhere
    assert config.embed.model == "intfloat/e5-small"
    assert config.store.vectors == "http://localhost:6333"


def test_a_site_on_the_web_is_its_own_base(tmp_path: Path) -> None:
    site = read(tmp_path, "site: https://www.example.com/docs/\nhosts: [Docs.example.com]\n").site_address
    assert (site.base, site.origin) == ("https://www.example.com/docs/", None)
    assert site.page("https://docs.example.com/docs/a") == "https://www.example.com/docs/a"


def test_a_staging_host_is_asked_for_pages_that_bear_the_public_address(tmp_path: Path) -> None:
    site = read(tmp_path, "site: http://127.0.0.1:8000/\nbase_url: https://www.example.com/\n").site_address
    assert site.base == "https://www.example.com/"
    assert site.address("https://www.example.com/a") == "http://127.0.0.1:8000/a"


@pytest.mark.parametrize(
    ("home", "base"),
    [
        ("<link rel=canonical href=https://www.example.com/>", "https://www.example.com/"),
        ("<link href='https://www.example.com/index.html' rel='canonical'>", "https://www.example.com/"),
        ('<meta property="og:url" content="https://www.example.com/docs/">', "https://www.example.com/docs/"),
        ('<link rel="canonical" href="/">', "http://localhost/"),
        ('<link rel="canonical" href="https://[">', "http://localhost/"),
        ("no home page", "http://localhost/"),
    ],
)
def test_a_folder_is_called_what_its_home_page_says(tmp_path: Path, home: str, base: str) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (public / "index.html").write_text(home)
    assert read(tmp_path, "site: public\n").site_address.base == base
    assert (
        read(tmp_path, "site: public\nbase_url: http://named.example/\n").site_address.base == "http://named.example/"
    )


@pytest.mark.parametrize("every", ["30m", "1h", "1d", "0 4 * * mon-fri", "*/15 6-22 1,15 jan,JUL 0"])
def test_times_and_cron_lines_are_accepted(tmp_path: Path, every: str) -> None:
    assert read(tmp_path, SITE + f"daemon: {{every: '{every}'}}\n").daemon.every == every


@pytest.mark.parametrize("every", ["", "0m", "1w", "1.5h", "* * * *", "60 * * * *", "* * * * monday", "*/0 * * * *"])
def test_what_is_neither_time_nor_cron_line_is_not(tmp_path: Path, every: str) -> None:
    assert "daemon.every" in one_fault(tmp_path, SITE + f"daemon: {{every: '{every}'}}\n")


# --- the environment --------------------------------------------------------------------------------------------------


def test_the_environment_gives_values_of_every_type(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        "site: https://${HOST}/${PART:-docs}/\nfetch:\n  timeout: ${SECONDS}\n  obey_robots: ${POLITE}\n"
        "  headers: {Authorization: 'Bearer ${TOKEN}'}\nstore:\n  api_key: ${KEY}\n"
        "neighbours:\n  min_similarity: ${MIN:-}\n",
        HOST="www.example.com",
        SECONDS="7.5",
        POLITE="false",
        TOKEN="a: {b}",
        KEY="0123",
    )
    assert config.site == "https://www.example.com/docs/"
    assert config.fetch.timeout == 7.5
    assert config.fetch.obey_robots is False
    assert config.fetch.headers == {"Authorization": "Bearer a: {b}"}
    assert config.store.api_key == "0123"
    assert config.neighbours.min_similarity is None


def test_an_empty_variable_takes_the_default_as_in_a_shell(tmp_path: Path) -> None:
    assert read(tmp_path, SITE + "store:\n  timeout: ${T:-25}\n", T="").store.timeout == 25


def test_a_variable_that_is_not_there_is_one_fault(tmp_path: Path) -> None:
    fault = one_fault(tmp_path, SITE + "store:\n  timeout: ${NOWHERE}\n")
    assert fault == "3: store.timeout: the environment has no variable NOWHERE"


def test_a_variable_spelled_wrong_is_a_fault(tmp_path: Path) -> None:
    assert "a variable is ${NAME} or ${NAME:-default}" in one_fault(tmp_path, SITE + "hosts: ['${A B}']\n")


# --- what it may not say ----------------------------------------------------------------------------------------------


def written(values: dict[str, str]) -> tuple[str, dict[str, int]]:
    """A file with these values, and the line of each key."""
    lines, places, section = [], {}, ""
    for key, value in values.items():
        name, _, inner = key.partition(".")
        if inner and name != section:
            lines.append(f"{name}:")
            section = name
        lines.append(f"  {inner}: {value}" if inner else f"{name}: {value}")
        places[key] = len(lines)
    return "\n".join(lines) + "\n", places


def test_every_key_has_a_fault_to_be_shown() -> None:
    assert set(FAULTS) == every_key()


@pytest.mark.parametrize("key", FAULTS)
def test_each_fault_names_line_key_value_and_what_is_allowed(tmp_path: Path, key: str) -> None:
    value, allowed = FAULTS[key]
    text, places = written({"site": "https://www.example.com/", key: value})
    fault = one_fault(tmp_path, text)
    assert re.match(rf"{places[key]}: {re.escape(key)}(\.[^:]+)?: ", fault), fault
    assert f" is not allowed: it must be {allowed}" in fault


def test_all_faults_are_shown_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text, places = written({key: value for key, (value, _) in FAULTS.items()})
    shown = faults(tmp_path, text)
    assert [int(line.partition(":")[0]) for line in shown] == sorted(places.values())


def test_an_unknown_key_is_told_the_closest_known_one(tmp_path: Path) -> None:
    shown = faults(tmp_path, SITE + "fetch:\n  Concurency: 3\nneighbors: {keep: 3}\nstore: {flavour: sweet}\n")
    assert shown == [
        "3: fetch.Concurency: unknown key; did you mean concurrency?",
        "4: neighbors: unknown key; did you mean neighbours?",
        "5: store.flavour: unknown key; allowed are state, vectors, api_key, timeout",
    ]


def test_a_file_without_site_says_so(tmp_path: Path) -> None:
    assert one_fault(tmp_path, "hosts: []\n").startswith("1: site: is missing")


def test_a_key_given_twice_is_a_fault(tmp_path: Path) -> None:
    assert one_fault(tmp_path, SITE + "fetch:\n  delay: 1\n  delay: 2\n") == "3: fetch.delay: is given again in line 4"


def test_a_section_that_is_a_list_is_told_its_keys(tmp_path: Path) -> None:
    assert "a section with the keys model, batch" in one_fault(tmp_path, SITE + "embed: [x]\n")


@pytest.mark.parametrize("value", ["two\\nlines", " blank", "blank ", "ümlaut"])
def test_header_values_that_cannot_be_sent_are_refused(tmp_path: Path, value: str) -> None:
    fault = one_fault(tmp_path, SITE + f'fetch: {{headers: {{Accept: "{value}"}}}}\n')
    assert fault.startswith("2: fetch.headers.Accept: ")
    assert "one line of ASCII" in fault


def test_secrets_are_not_repeated(tmp_path: Path) -> None:
    shown = "\n".join(
        faults(
            tmp_path,
            SITE + 'store: {api_key: 31415926}\nfetch: {headers: {A: "hush\\nhush"}}\ndaemon: {token: 27182}\n',
        )
    )
    assert "31415926" not in shown
    assert "hush" not in shown
    assert "27182" not in shown


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("site: a: b\n", 1, "mapping values are not allowed here"),
        ("site: x\nfetch: {delay: 3\n", 3, "expected ',' or '}'"),
        ("site: x\n\tfetch: 3\n", 2, "'\\t'"),
        ("site: x\n\nhosts: \x07\n", 3, "special characters are not allowed"),
        ("site: x\nhosts: !python/name:os.system\n", 2, "could not determine a constructor"),
        ("site: x\nfetch: {delay: ${DELAY}}\n", 2, "put quotes around ${NAME}"),
    ],
)
def test_what_is_not_yaml_gets_one_line_that_says_where(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, text)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'config.yaml'}:{line}: this is not YAML: ")
    assert what in message
    assert "\n" not in message


def test_without_a_file_init_is_recommended(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`indexer init SITE` writes one"):
        load(tmp_path / "config.yaml", {})


@pytest.mark.parametrize("text", ["", "# nothing\n", "- site\n", "https://www.example.com/\n"])
def test_a_file_without_keys_is_told_what_a_configuration_is(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="is a list of keys"):
        read(tmp_path, text)


def test_bytes_that_are_no_text_are_a_fault(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"site: \xff\xfe")
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / "config.yaml", {})


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.dates() | st.text(max_size=8)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(sorted(FAULTS)), anything, max_size=5))
def test_whatever_a_file_says_it_is_understood_or_refused_with_reasons(tmp_path: Path, values: dict[str, Any]) -> None:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        name, _, inner = key.partition(".")
        if inner:
            nested.setdefault(name, {})[inner] = value
        else:
            nested[name] = value
    with suppress(ConfigError):
        assert read(tmp_path, yaml.safe_dump(nested, allow_unicode=True)).site


# --- writing one ------------------------------------------------------------------------------------------------------


def uncommented(text: str) -> str:
    return re.sub(r"^# ( *[a-z_]+:)", r"\1", text, flags=re.MULTILINE)


def test_the_starter_shows_every_key_with_its_default(tmp_path: Path) -> None:
    shown = uncommented(starter("https://www.example.com/"))
    keys = {
        f"{name}.{key}" if isinstance(value, dict) else name
        for name, value in yaml.safe_load(shown).items()
        for key in (value if isinstance(value, dict) else [name])
    }
    assert keys == every_key()
    assert read(tmp_path, shown) == read(tmp_path, SITE)


def test_the_starter_works_as_it_is(tmp_path: Path) -> None:
    assert read(tmp_path, starter("https://www.example.com/")) == read(tmp_path, SITE)


@pytest.mark.parametrize("name", ["public", "with blank", "co: lon # hash", "ümlaut", "{braces}", "true"])
def test_the_starter_names_a_folder_and_the_address_it_was_built_for(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "index.html").write_text('<link rel="canonical" href="https://www.example.com/">')
    config = read(tmp_path, starter(str(folder)))
    assert config.folder == folder
    assert config.base_url == "https://www.example.com/"


def test_the_starter_refuses_what_is_neither_folder_nor_address(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"neither a folder that exists nor an address"):
        starter(str(tmp_path / "nowhere"))
