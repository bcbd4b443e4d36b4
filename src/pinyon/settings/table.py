"""All settings together: `Settings`, their values, and `specs`, their table."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pinyon.errors import SettingError, nearest
from pinyon.settings.sections import (
    Db,
    Engine,
    Fetcher,
    Generate,
    HostDb,
    Inject,
    Parse,
    Store,
    Urls,
    Warc,
)
from pinyon.settings.spec import Spec


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections. `origins` says where each setting that is not a default was set."""

    urls: Urls = field(default_factory=Urls)
    inject: Inject = field(default_factory=Inject)
    generate: Generate = field(default_factory=Generate)
    fetcher: Fetcher = field(default_factory=Fetcher)
    warc: Warc = field(default_factory=Warc)
    parse: Parse = field(default_factory=Parse)
    db: Db = field(default_factory=Db)
    hostdb: HostDb = field(default_factory=HostDb)
    engine: Engine = field(default_factory=Engine)
    store: Store = field(default_factory=Store)
    origins: Mapping[str, str] = field(default_factory=dict)

    def with_values(self, values: Mapping[str, Any], origin: str) -> Settings:
        """A copy with `values` ('section.name' → value or its text) set; `SettingError` names what is wrong."""
        sections: dict[str, dict[str, Any]] = {}
        for key, value in values.items():
            spec = known(key, origin)
            sections.setdefault(spec.section, {})[spec.name] = spec.convert(value, origin)
        changed: dict[str, Any] = {
            name: dataclasses.replace(getattr(self, name), **new) for name, new in sections.items()
        }
        origins = {**self.origins, **dict.fromkeys(values, origin)}
        return dataclasses.replace(self, **changed, origins=origins)

    def effective(self) -> dict[str, Any]:
        """Every setting and its value, as JSON takes it: what a segment records."""
        return {spec.key: getattr(getattr(self, spec.section), spec.name) for spec in specs()}


@functools.cache
def specs() -> tuple[Spec, ...]:
    """The table of settings, in order."""
    return tuple(_specs())


def _specs() -> Iterator[Spec]:
    for section in dataclasses.fields(Settings):
        if section.name == "origins":
            continue
        cls = section.default_factory
        hints = typing.get_type_hints(cls)
        for f in dataclasses.fields(cls):  # type: ignore[arg-type]
            yield Spec(section.name, f.name, hints[f.name], f.default, **f.metadata)


def known(key: str, origin: str) -> Spec:
    """The row for 'section.name'; `SettingError` with the nearest name if there is none."""
    by_key = {spec.key: spec for spec in specs()}
    if key not in by_key:
        raise SettingError(f"{origin}: unknown setting '{key}'{nearest(key, by_key)}")
    return by_key[key]
