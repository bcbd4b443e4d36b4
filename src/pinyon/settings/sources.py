"""Where settings come from, and in which order: later sources win."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pinyon.errors import SettingError, nearest
from pinyon.settings.nutch import from_nutch
from pinyon.settings.table import Settings, specs

_ENVIRONMENT = "environment"

_HEAD = "# Settings of this crawl: 'pinyon settings' lists all of them with their defaults and units.\n"
#: What a new pinyon.toml proposes, by section.
_PROPOSALS = {
    "fetcher": (
        '# agent_name = "pinyon"\n'
        '# agent_contact = "https://example.org/crawler"   # site owners want to reach you; needed off loopback\n'
        "# server_delay = 5.0\n"
    ),
    "generate": "# top_n = 100000\n# max_count = 100\n",
}


def gather(
    own: Path | None,
    conf: Path | str | None,
    environment: Mapping[str, str],
    arguments: Mapping[str, Any],
) -> tuple[Settings, list[str]]:
    """All sources in their order, and warnings, one line each.

    `own` is the crawl's TOML, `conf` another one or a `.xml` of Nutch's, `arguments` are 'section__name' values.
    """
    settings, warnings = Settings(), []
    if own is not None:
        settings = settings.with_values(from_toml(own), str(own))
    if conf is not None and Path(conf).suffix == ".xml":
        values, unknown = from_nutch(Path(conf))
        settings = settings.with_values(values, str(conf))
        if unknown:
            warnings.append(f"{conf}: properties without a meaning here: {', '.join(sorted(unknown))}")
    elif conf is not None:
        settings = settings.with_values(from_toml(Path(conf)), str(conf))
    settings = settings.with_values(from_environment(environment), _ENVIRONMENT)
    return settings.with_values(keys(arguments), "arguments"), warnings


def keys(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """'section__name' → value as 'section.name' → value."""
    return {name.replace("__", ".", 1): value for name, value in arguments.items()}


def as_toml(settings: Settings) -> str:
    """A `pinyon.toml` that proposes some settings, and sets those that were given but for the environment's.

    JSON writes texts, numbers, truth and lists as TOML does.
    """
    lines: dict[str, list[str]] = {section: [text] for section, text in _PROPOSALS.items()}
    for key, value in settings.effective().items():
        section, _, name = key.partition(".")
        if value is not None and settings.origins.get(key, _ENVIRONMENT) != _ENVIRONMENT:
            lines.setdefault(section, []).append(f"{name} = {json.dumps(value, ensure_ascii=False)}\n")
    return _HEAD + "".join(f"\n[{section}]\n{''.join(texts)}" for section, texts in lines.items())


def from_toml(path: Path) -> dict[str, Any]:
    """'section.name' → value of a TOML file; `SettingError` if it cannot be read or is not TOML."""
    import tomllib

    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from error
    values: dict[str, Any] = {}
    for section, content in document.items():
        if not isinstance(content, dict):
            raise SettingError(f"{path}: '{section}' stands outside a [section]")
        values.update({f"{section}.{name}": value for name, value in content.items()})
    return values


def from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """'section.name' → text of the variables PINYON_SECTION_NAME; an unknown one is an error."""
    by_env = {spec.env: spec.key for spec in specs()}
    found = {name: text for name, text in environment.items() if name.startswith("PINYON_")}
    for name in found:
        if name not in by_env:
            raise SettingError(f"environment: unknown setting '{name}'{nearest(name, by_env)}")
    return {by_env[name]: text for name, text in found.items()}
