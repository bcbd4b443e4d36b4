"""Settings: every source, in its order, with its units; nothing is dropped silently."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from pinyon.crawl import Crawl
from pinyon.errors import SettingError
from pinyon.settings import Settings, from_environment, from_nutch, from_toml, specs

SPECS = {spec.key: spec for spec in specs()}


def nutch_site(tmp_path: Path, *properties: tuple[str, str], name: str = "nutch-site.xml") -> Path:
    listed = "".join(f"<property><name>{n}</name><value>{v}</value></property>" for n, v in properties)
    path = tmp_path / name
    path.write_text(f'<?xml version="1.0"?>\n<configuration>{listed}</configuration>')
    return path


def toml(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "conf.toml"
    path.write_text(text, encoding="utf-8")
    return path


# -- the table ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", SPECS)
def test_every_setting_has_help_and_a_default_of_its_type(key: str) -> None:
    spec = SPECS[key]
    assert spec.help and spec.help[0] != " " and not spec.help.endswith(".")
    assert spec.convert(spec.default, "default") == spec.default
    assert Settings().effective()[key] == spec.default
    assert spec.env == "PINYON_" + key.replace(".", "_").upper()


def test_no_two_settings_share_a_variable_or_a_nutch_property() -> None:
    assert len({spec.env for spec in specs()}) == len(specs())
    properties = [spec.nutch for spec in specs() if spec.nutch]
    assert len(set(properties)) == len(properties)


# -- sources and their order ----------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PINYON_FETCHER_SERVER_DELAY", "PINYON_GENERATE_TOP_N"):
        monkeypatch.delenv(name, raising=False)
    Crawl.create(tmp_path / "crawl", store__buckets=2).close()
    return tmp_path / "crawl"


def test_later_sources_win(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delays = []

    def look(**options: Any) -> None:
        with Crawl.open(root, **options) as crawl:
            delays.append(crawl.settings.fetcher.server_delay)
            where.append(crawl.settings.origins.get("fetcher.server_delay", "default"))

    where: list[str] = []
    look()
    text = (root / "pinyon.toml").read_text()
    (root / "pinyon.toml").write_text(text.replace("[fetcher]\n", "[fetcher]\nserver_delay = 4\n", 1))
    look()
    conf = toml(tmp_path, "[fetcher]\nserver_delay = 3.5\n")
    look(conf=conf)
    monkeypatch.setenv("PINYON_FETCHER_SERVER_DELAY", "2")
    look(conf=conf)
    look(conf=conf, fetcher__server_delay="1.5")
    assert delays == [5.0, 4.0, 3.5, 2.0, 1.5]
    assert where == ["default", f"{root}/pinyon.toml", str(conf), "environment", "arguments"]


def test_a_nutch_site_is_a_source_and_what_it_says_of_other_things_is_listed_once(
    root: Path, tmp_path: Path
) -> None:
    conf = nutch_site(
        tmp_path,
        ("fetcher.server.delay", "2.5"),
        ("plugin.includes", "protocol-http"),
        ("plugin.includes", "protocol-okhttp"),
        ("http.agent.email", "x"),
    )
    with Crawl.open(root, conf=conf) as crawl:
        assert crawl.settings.fetcher.server_delay == 2.5
        assert crawl.warnings == [
            f"{conf}: properties without a meaning here: http.agent.email, plugin.includes"
        ]


def test_what_init_is_given_is_kept_for_the_life_of_the_crawl(tmp_path: Path) -> None:
    conf = nutch_site(tmp_path, ("http.agent.name", "a &quot;b&quot; é \U0001f40d"), ("x.y", "z"))
    made = Crawl.create(tmp_path / "crawl", conf=conf, fetcher__server_delay="2", urls__rules="-a{2,3} +.")
    assert made.warnings == [f"{conf}: properties without a meaning here: x.y"]
    with Crawl.open(tmp_path / "crawl") as crawl:
        assert crawl.settings.fetcher.server_delay == 2.0
        assert crawl.settings.urls.rules == ("-a{2,3}", "+.")
        assert crawl.settings.fetcher.agent_name == 'a "b" é \U0001f40d'


def test_the_environment_counts_when_a_crawl_is_made_but_is_not_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINYON_STORE_BUCKETS", "2")
    Crawl.create(tmp_path / "crawl")
    monkeypatch.delenv("PINYON_STORE_BUCKETS")
    assert "buckets" not in (tmp_path / "crawl" / "pinyon.toml").read_text()
    with Crawl.open(tmp_path / "crawl") as crawl:
        from pinyon.tables import CRAWLDB

        assert crawl.store.current(CRAWLDB).buckets == 2
        assert crawl.settings.store.buckets == 16


# -- what is unknown ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("fetcher.server_dely", ", did you mean 'fetcher.server_delay'?"),
        ("generate.topn", ", did you mean 'generate.top_n'?"),
        ("fetch.server_delay", ", did you mean 'fetcher.server_delay'?"),
        ("origins.x", ""),
        ("zzz.qqq", ""),
    ],
)
def test_an_unknown_key_is_an_error_with_the_nearest_name(key: str, hint: str) -> None:
    with pytest.raises(SettingError) as error:
        Settings().with_values({key: 1}, "conf.toml")
    assert str(error.value) == f"conf.toml: unknown setting '{key}'{hint}"


def test_an_unknown_variable_is_an_error_with_the_nearest_name() -> None:
    assert from_environment({"PATH": "/bin", "PINYON_DB_SCORES": "none"}) == {"db.scores": "none"}
    with pytest.raises(
        SettingError, match="unknown setting 'PINYON_DB_SCORE', did you mean 'PINYON_DB_SCORES'"
    ):
        from_environment({"PINYON_DB_SCORE": "none"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[fetcher\n", "not valid TOML"),
        ("server_delay = 1\n", "'server_delay' stands outside a \\[section\\]"),
        ("[fetcher]\nserver_delay = 1\nserver_delay = 2\n", "not valid TOML"),
        ("\udcff", "not valid TOML"),
        (None, "cannot be read"),
    ],
)
def test_a_torn_file_is_one_line(tmp_path: Path, text: str | None, told: str) -> None:
    path = tmp_path / "conf.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(SettingError, match=told) as error:
        from_toml(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


# -- values ---------------------------------------------------------------------------------------------------


def value(key: str, said: Any) -> Any:
    settings = Settings().with_values({key: said}, "test")
    return settings.effective()[key]


@pytest.mark.parametrize("said", [False, "false", "False", " FALSE ", "no", "off", "0", 0])
def test_false_means_off_whatever_wrote_it(said: Any, tmp_path: Path) -> None:
    assert value("generate.filter", said) is False
    assert from_environment({"PINYON_GENERATE_FILTER": str(said)}) == {"generate.filter": str(said)}
    values, _ = from_nutch(nutch_site(tmp_path, ("generate.filter", str(said))))
    assert value("generate.filter", values["generate.filter"]) is False


@pytest.mark.parametrize("said", [True, "true", "YES", "on", "1", 1])
def test_true_means_on_whatever_wrote_it(said: Any) -> None:
    assert value("generate.spread", said) is True


@pytest.mark.parametrize(
    "key", ["generate.top_n", "fetcher.time_limit", "generate.limits_file", "db.max_depth"]
)
def test_what_may_be_nothing_is_nothing_by_false_too(key: str) -> None:
    for said in (None, "", False):
        assert value(key, said) is None
    if SPECS[key].kind in (int, float):
        assert value(key, "off") is None is value(key, "false")


def test_switches_with_other_words_beside_take_false_for_off() -> None:
    for said in (False, "false", "off", "No"):
        assert value("generate.hostdb", said) == "off"
    assert value("generate.hostdb", True) == "on"
    assert value("generate.hostdb", "/other/hostdb") == "/other/hostdb"


def test_false_as_an_expression_is_an_expression() -> None:
    assert value("generate.expr", "false") == "false"


@pytest.mark.parametrize(
    ("key", "said", "expected"),
    [
        ("generate.top_n", "100", 100),
        ("generate.top_n", 100.0, 100),
        ("generate.max_count", "-1", -1),
        ("fetcher.server_delay", 2, 2.0),
        ("fetcher.server_delay", "0.5", 0.5),
        ("generate.restrict_status", "db_fetched,db_gone db_orphan", ("db_fetched", "db_gone", "db_orphan")),
        ("generate.restrict_status", ["a", "b,c"], ("a", "b,c")),
        ("urls.deny_suffixes", "", ()),
        ("urls.rules", "-[?&]x{1,2}=  +.", ("-[?&]x{1,2}=", "+.")),
        ("db.scores", "none", "none"),
    ],
)
def test_texts_become_values_of_the_settings_type(key: str, said: Any, expected: Any) -> None:
    assert value(key, said) == expected
    assert type(value(key, said)) is type(expected)


@pytest.mark.parametrize(
    ("key", "said", "told"),
    [
        ("generate.top_n", "many", "wanted a whole number (URLs)"),
        ("generate.top_n", 1.5, "wanted a whole number (URLs)"),
        ("generate.top_n", True, "wanted a whole number (URLs)"),
        ("generate.top_n", [1], "wanted a whole number (URLs)"),
        ("fetcher.server_delay", "-1", "wanted a number (s), 0 or more"),
        ("fetcher.server_delay", "nan", "wanted a number (s), 0 or more"),
        ("fetcher.server_delay", math.inf, "wanted a number (s), 0 or more"),
        ("store.keep_versions", 0, "wanted a whole number (versions), 1 or more"),
        ("fetcher.server_delay", "", "needs a value (a number (s), 0 or more)"),
        ("generate.filter", "maybe", "wanted true or false"),
        ("generate.filter", 2, "wanted true or false"),
        ("generate.filter", "", "needs a value (true or false)"),
        ("fetcher.agent_name", 5, "wanted text"),
        ("urls.schemes", 5, "wanted a list of texts"),
        ("urls.schemes", [1], "wanted a list of texts"),
        ("urls.schemes", {"http": 1}, "wanted a list of texts"),
        ("db.scores", "opik", "wanted one of opic, links, depth, none, did you mean 'opic'?"),
        ("inject.mode", "x" * 500, "wanted one of keep, update, overwrite"),
    ],
)
def test_a_value_that_makes_no_sense_is_one_line_with_what_was_wanted(key: str, said: Any, told: str) -> None:
    with pytest.raises(SettingError) as error:
        value(key, said)
    text = str(error.value)
    assert text.startswith(f"test: {key} ") and text.endswith(told), text
    assert len(text) < 250 and "\n" not in text


# -- Nutch's files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "key", "expected"),
    [
        ("http.timeout", "10000", "fetcher.read_timeout", 10.0),
        ("crawl.gen.delay", "604800000", "generate.gen_delay", 604_800),
        ("fetcher.timelimit.mins", "2", "fetcher.time_limit", 120.0),
        ("fetcher.timelimit.mins", "-1", "fetcher.time_limit", None),
        ("generate.min.interval", "-1", "generate.interval_at_most", None),
        ("generate.max.count", "-1", "generate.max_count", -1),
        ("db.fetch.interval.default", "2592000", "db.fetch_interval_default", 2_592_000),
        ("fetcher.server.delay", " 5.0 ", "fetcher.server_delay", 5.0),
        ("partition.url.mode", "byDomain", "generate.partition_by", "domain"),
        ("fetcher.queue.mode", "byIP", "fetcher.queue_mode", "ip"),
        ("generate.hostdb", "crawl/hostdb", "generate.hostdb", "on"),
        ("generate.hostdb", "", "generate.hostdb", "off"),
        ("http.robots.agents", "a,b", "fetcher.robots_agents", ("a", "b")),
        (
            "generate.max.count.expr",
            "fetched &gt; 10 ? 1 : 2",
            "generate.max_count_expr",
            "fetched > 10 ? 1 : 2",
        ),
        ("generate.max.count.expr", "", "generate.max_count_expr", None),
    ],
)
def test_units_and_words_of_nutch_become_ours(
    tmp_path: Path, name: str, text: str, key: str, expected: Any
) -> None:
    values, unknown = from_nutch(nutch_site(tmp_path, (name, text)))
    assert unknown == []
    assert Settings().with_values(values, "nutch").effective()[key] == expected


def test_the_last_property_of_a_name_counts_and_names_are_filled_in(tmp_path: Path) -> None:
    path = nutch_site(
        tmp_path,
        ("http.agent.name", "first"),
        ("http.agent.name", "${company}-${kind}-${user.home}"),
        ("company", "acme"),
        ("kind", "${deeper}"),
        ("deeper", "bot"),
    )
    assert from_nutch(path) == (
        {"fetcher.agent_name": "acme-bot-${user.home}"},
        ["company", "kind", "deeper"],
    )
    from_nutch(nutch_site(tmp_path, ("http.agent.name", "${http.agent.name}x")))  # ends


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not a Hadoop configuration"),
        ("<configuration>", "not a Hadoop configuration"),
        ("<html/>", "it is a <html>"),
        ('<!DOCTYPE c [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;">]><configuration>&b;</configuration>', "not a"),
        ('<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]><configuration>&x;</configuration>', "not a Hadoop"),
        (None, "cannot be read"),
    ],
)  # fmt: skip
def test_torn_files_and_entity_bombs_are_refused_in_one_line(
    tmp_path: Path, text: str | None, told: str
) -> None:
    path = tmp_path / "nutch-site.xml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SettingError, match=told) as error:
        from_nutch(path)
    assert "\n" not in str(error.value)


def test_a_value_of_nutch_that_cannot_be_used_names_file_and_property(tmp_path: Path) -> None:
    path = nutch_site(tmp_path, ("http.timeout", "soon"))
    with pytest.raises(SettingError, match=r"nutch-site\.xml: http\.timeout = 'soon': wanted a number"):
        from_nutch(path)
    path = nutch_site(tmp_path, ("fetcher.max.crawl.delay", "-1"))
    with pytest.raises(
        SettingError, match=r"nutch-site\.xml: fetcher\.max_crawl_delay = '-1': wanted .* 0 or more"
    ):
        Settings().with_values(from_nutch(path)[0], str(path))
