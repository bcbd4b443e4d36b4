"""pinyon: a batch web crawler and crawl scheduler that remembers every URL and says why."""

__version__ = "0.1.0"
