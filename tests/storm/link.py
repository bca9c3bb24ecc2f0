"""Loopback connections that fail on request: each daemon reaches its database and its bucket through its
own links, and clients reach each daemon through one."""

import asyncio
import threading

WEATHERS = ("clear", "cut", "hole", "slow", "swallow")
CHUNK = 65536
POLL_S = 0.02


class Links:
    """All links, in one thread with one event loop; use in a `with` statement."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

    def open(self, target, random):
        """Opens a link to an address: a pair (host, port), the path of a socket, or None for no target yet."""
        link = Link(target, random)
        asyncio.run_coroutine_threadsafe(link.listen(), self.loop).result(10)
        link.loop = self.loop
        return link


class Link:
    def __init__(self, target, random):
        self.target, self.random = target, random
        self.weather, self.delay, self.share = "clear", 0.0, 0.0
        self.pairs, self.swallowed = set(), 0

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, limit=CHUNK)
        self.port = self.server.sockets[0].getsockname()[1]

    def set(self, weather, delay=0.0, share=0.0):
        """cut: refuses connections, and closes open ones. hole: connections stay open, but nothing passes until
        the fault ends. slow: each piece is delayed by `delay` seconds. swallow: this share of the
        answers is dropped, and their connections are closed."""
        assert weather in WEATHERS, weather
        self.weather, self.delay, self.share = weather, delay, share
        if weather == "cut":
            self.loop.call_soon_threadsafe(self.drop)

    def lead_to(self, target):
        self.target = target

    def drop(self):
        for pair in list(self.pairs):
            for writer in pair:
                writer.transport.abort()

    async def serve(self, reader, writer):
        try:
            if self.weather == "cut" or self.target is None:
                raise OSError
            if isinstance(self.target, str):
                far_reader, far_writer = await asyncio.open_unix_connection(self.target, limit=CHUNK)
            else:
                far_reader, far_writer = await asyncio.open_connection(*self.target, limit=CHUNK)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, far_writer)
        self.pairs.add(pair)
        try:
            await asyncio.gather(self.pump(reader, far_writer, False), self.pump(far_reader, writer, True))
        except OSError:
            pass
        self.pairs.discard(pair)
        for each in pair:
            each.transport.abort()

    async def pump(self, source, sink, answers):
        while chunk := await source.read(CHUNK):
            while self.weather == "hole":
                await asyncio.sleep(POLL_S)
            if self.weather == "slow":
                await asyncio.sleep(self.delay)
            if answers and self.weather == "swallow" and self.random.random() < self.share:
                self.swallowed += 1
                raise OSError("swallowed")
            sink.write(chunk)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
