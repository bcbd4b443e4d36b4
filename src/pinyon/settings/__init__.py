"""Settings: one table of them, and the reading of it from its sources.

A setting is a field of a section (`sections`); its row in the table (`Spec`) knows its type, unit, default and
help, and turns what a source says into its value. Sources, later ones win: defaults, `pinyon.toml` of the crawl,
`--conf FILE` (TOML, or a Nutch `nutch-site.xml`, whose property names stand beside the settings), environment
`PINYON_SECTION_NAME`, command line.

Invariant: nothing that was said is dropped silently. An unknown key is an error with the nearest name; an unknown
Nutch property is listed, since such a file configures other things too.
"""

from pinyon.settings.nutch import from_nutch
from pinyon.settings.sections import (
    NOT_PAGES,
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
from pinyon.settings.sources import as_toml, from_environment, from_toml, gather, keys
from pinyon.settings.spec import Spec
from pinyon.settings.table import Settings, known, specs

__all__ = [
    "NOT_PAGES",
    "Db",
    "Engine",
    "Fetcher",
    "Generate",
    "HostDb",
    "Inject",
    "Parse",
    "Settings",
    "Spec",
    "Store",
    "Urls",
    "Warc",
    "as_toml",
    "from_environment",
    "from_nutch",
    "from_toml",
    "gather",
    "keys",
    "known",
    "specs",
]
