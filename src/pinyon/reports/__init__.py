"""Reports: read-only questions about a crawl, one .sql each, asked by the command line and the dashboard alike.

A report opens published versions, never takes the writer's lock, and changes nothing.
"""
