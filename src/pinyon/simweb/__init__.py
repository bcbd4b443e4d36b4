"""A seeded, awkward web on loopback: what demo, tests and benchmarks crawl instead of the real one.

A **web** is born from a seed. The seed plans its **hosts**, some hundred names, each with an address of its own in
127.0.0.0/8 (a few share one): the *hub*, which lists all others; *ordinary* hosts, whose pages form a tree and link
across hosts by a power law; and *awkward* hosts, one or more of every **kind** in the table `kinds.KINDS`.

A **page** is never stored. A request becomes an `Ask`, a function of seed, host and path makes an `Answer` of it
(`respond`), and `wire` puts the answer into bytes, wrongly where its *manner* says so. `connection` owns the socket and
the clock, and writes each request into the **log** as it arrives. The oracle (`reachable`) asks `respond` as well,
without a socket, and says what a perfect crawler would bring home.

Names of the simulated web do not resolve anywhere. URLs carry no port; a crawler connects through the lines of
`connect_to`, which have the shape of curl's option of that name. https needs the package `cryptography`; its
authority is made at start, and `ca_file` says where to find it.

    with SimWeb(seed=1, hosts=50, awkward=False) as web:
        crawl(web.seeds(), connect_to=web.connect_to())
        assert fetched == web.reachable(web.seeds())

As a process of its own: `python -m pinyon.simweb --help`.

The invariant: the same parameters give the same hosts, links and bytes of pages, in every process and whatever was
asked before. Exceptions are marked in the table: kinds that remember, and the edition, which its owner raises.
"""

from pinyon.simweb.kind import Kind
from pinyon.simweb.kinds import KINDS
from pinyon.simweb.log import Request, read_log
from pinyon.simweb.web import SimWeb

__all__ = ["KINDS", "Kind", "Request", "SimWeb", "read_log"]
