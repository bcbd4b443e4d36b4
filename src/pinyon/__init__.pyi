"""The types of the names that `pinyon` imports when they are asked for; a test keeps the two lists the same."""

from pinyon.crawl import Crawl as Crawl
from pinyon.cycle.fetch import FetchReport as FetchReport
from pinyon.cycle.fetch import fetch as fetch
from pinyon.cycle.generate import GenerateReport as GenerateReport
from pinyon.cycle.generate import generate as generate
from pinyon.cycle.inject import InjectReport as InjectReport
from pinyon.cycle.inject import inject as inject
from pinyon.cycle.parse import ParseReport as ParseReport
from pinyon.cycle.parse import parse as parse
from pinyon.cycle.round import CrawlReport as CrawlReport
from pinyon.cycle.round import crawl_rounds as crawl_rounds
from pinyon.cycle.updatedb import UpdateReport as UpdateReport
from pinyon.cycle.updatedb import updatedb as updatedb
from pinyon.cycle.updatehostdb import HostDbReport as HostDbReport
from pinyon.cycle.updatehostdb import updatehostdb as updatehostdb
from pinyon.errors import EngineError as EngineError
from pinyon.errors import ExpressionError as ExpressionError
from pinyon.errors import FetchError as FetchError
from pinyon.errors import InputError as InputError
from pinyon.errors import LockedError as LockedError
from pinyon.errors import MissingExtra as MissingExtra
from pinyon.errors import NothingDue as NothingDue
from pinyon.errors import PinyonError as PinyonError
from pinyon.errors import SettingError as SettingError
from pinyon.errors import StoreError as StoreError
from pinyon.errors import UsageError as UsageError
from pinyon.reports.readdb import CrawlDbStats as CrawlDbStats
from pinyon.reports.readdb import crawldb_stats as crawldb_stats
from pinyon.reports.readdb import host_row as host_row
from pinyon.reports.readdb import query as query
from pinyon.reports.readdb import url_row as url_row
from pinyon.reports.status import CrawlStatus as CrawlStatus
from pinyon.reports.status import status as status
from pinyon.settings import Settings as Settings

__version__: str
