"""The thread in which a simulated web runs."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from pathlib import Path

from pinyon.simweb import tls
from pinyon.simweb.hosts import FAMILIES
from pinyon.simweb.log import Log
from pinyon.simweb.server import Server
from pinyon.simweb.site import World

STOP_TIMEOUT_S = 5.0


class Running:
    """The thread with the event loop, and what lives as long as it does: log, sockets, certificates.

    It listens when the constructor returns; what kept it from that is raised.
    """

    def __init__(self, world: World, log_path: Path | None, https: bool) -> None:
        self.log = Log(log_path)
        self._directory = tempfile.TemporaryDirectory(prefix="simweb-")
        names = [f"*.{domain}" for domain in ("sim.test", *FAMILIES)]
        self.contexts = tls.make_contexts(Path(self._directory.name), names) if https else None
        self.server = Server(world, self.log, self.contexts)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="simweb", daemon=True)
        self._thread.start()
        self._ready.wait()
        self._raise_failure()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        sweeper = asyncio.ensure_future(self.server.sweep())
        try:
            await self.server.start()
            self._ready.set()
            await self._stop.wait()
        finally:
            sweeper.cancel()
            await self.server.stop()

    def _raise_failure(self) -> None:
        if self._error is not None:
            self._thread.join()
            self.stop()
            raise self._error

    def stop(self) -> None:
        """Ends the thread and closes everything; a second time it does nothing."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(STOP_TIMEOUT_S)
        self.log.close()
        self._directory.cleanup()
