"""Sends requests and reads answers: addresses, keys, retries, problems as exceptions.

Every request of the API may be repeated: requests that only read, requests that are idempotent, and
requests that create something, because all tries of one call send the same idempotency key. So a
request that got no answer, or 503 with Retry-After, is sent again until `patience` seconds after the
first failure. Redirects are not followed: a key must not be sent to an address that the user did not
choose.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import http.client
import json
import os
import random
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Mapping
from email.message import Message
from typing import Any, BinaryIO, NamedTuple, Union

from ._errors import EpsilondError, Unavailable, UnexpectedAnswer, Unreachable, problem_from
from ._figures import plain

Content = Union[bytes, str, "os.PathLike[str]"]
Stream = Callable[[], Iterator[bytes]]  # begins a new stream of the same bytes for each try

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
BLOCK = 1 << 20  # bytes of a file that are sent at a time
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between tries, doubled from try to try
NEVER_ARRIVED = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)
GATEWAYS = {502, 504}  # the statuses by which a proxy says that it got no answer


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            raise UnexpectedAnswer("check the address (EPSILOND_URL): the answer is not JSON", self.status) from None


class _Connection(http.client.HTTPConnection):
    """Reads an answer that came before the whole body was sent: an upload is refused in this way."""

    _refused = False

    def send(self, data: Any) -> None:
        if self._refused:
            return
        try:
            super().send(data)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            self._refused = True


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Handler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(functools.partial(_Connection, blocksize=BLOCK), req)


class _SecureHandler(urllib.request.HTTPSHandler):
    def __init__(self) -> None:
        self._ssl = ssl.create_default_context()  # uses SSL_CERT_FILE if it is set
        super().__init__(context=self._ssl)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        connect = functools.partial(_SecureConnection, blocksize=BLOCK, context=self._ssl)
        return self.do_open(connect, req)


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """Returns every answer unchanged; in particular, follows no redirect."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


class Address(NamedTuple):
    """The service's base URL, and the headers of every request, with the credentials."""

    base: str
    headers: dict[str, str]
    is_loopback: bool


def address_of(url: str, key: str | None) -> Address:
    """Parses an address; raises ValueError with the reason if it is invalid."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("give an address that begins with http:// or https:// and a host's name: "
                         f"{plain(url)!r} does not")
    if parts.query or parts.fragment:
        raise ValueError("give an address without a query and a fragment")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.port is not None:
        host = f"{host}:{parts.port}"
    headers = {"User-Agent": "epsilond-python"}
    if key is not None and parts.username is not None:
        raise ValueError("give either a key or a name and password in the address")
    if key is not None:
        if not key or not all("!" <= c <= "~" for c in key):
            raise ValueError("give the whole key: it is printable ASCII without blanks")
        headers["Authorization"] = f"Bearer {key}"
    elif parts.username is not None:  # for a proxy in front of the service that requires a password
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    is_loopback = parts.hostname in LOOPBACK
    if "Authorization" in headers and parts.scheme == "http" and not is_loopback:
        warnings.warn("the key travels without encryption: use https://", stacklevel=4)
    return Address(f"{parts.scheme}://{host}{parts.path.rstrip('/')}", headers, is_loopback)


class Transport:
    """A connection to one service. Threads may share it: it stores nothing of a request."""

    def __init__(self, url: str, key: str | None, timeout: float, patience: float) -> None:
        address = address_of(url, key)
        self.base, self._headers = address.base, address.headers
        self._timeout, self._patience = timeout, patience
        self._answered = False
        handlers: list[urllib.request.BaseHandler] = [_Handler(), _SecureHandler(), _EveryStatus()]
        if address.is_loopback:  # a proxy would look for the service on its own host
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return self.call("GET", path, query=query).json()

    def post(self, path: str, value: Any = None, *, query: Mapping[str, Any] | None = None,
             idempotency_key: str | None = None, wait: float = 0) -> Answer:
        headers = {"Content-Type": "application/json"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        body = json.dumps({} if value is None else value, allow_nan=False, default=_plain_value)
        return self.call("POST", path, query=query, headers=headers, content=body.encode(), wait=wait)

    def upload(self, path: str, content: Content, query: Mapping[str, Any] | None = None) -> Any:
        return self.call("POST", path, query=query, headers={"Content-Type": "application/octet-stream"},
                         content=content).json()

    def put(self, path: str, content: Content | Stream) -> None:
        self.call("PUT", path, headers={"Content-Type": "application/octet-stream"}, content=content)

    def pages(self, path: str, member: str, query: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Every item of a list. Fetches a page when its first item is needed."""
        token: str | None = None
        while True:
            page = self.get(path, {**(query or {}), "page_token": token})
            yield from page[member]
            token = page["next_page_token"]
            if token is None:
                return

    def call(self, method: str, path: str, *, query: Mapping[str, Any] | None = None,
             headers: Mapping[str, str] | None = None, content: Content | Stream | None = None,
             wait: float = 0, patience: float | None = None, into: BinaryIO | None = None) -> Answer:
        """Sends a request and returns the answer if its status is below 300 or 304. Otherwise raises
        a Problem, UnexpectedAnswer or Unreachable.

        wait: seconds added to the usual timeout, because the service was asked to wait.
        into: an open file that gets the body of a 200, part by part.
        """
        url = self.base + path
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        if asked:
            url += "?" + urllib.parse.urlencode(asked)
        whole = {**self._headers, **(headers or {})}
        give_up: float | None = None
        pause = FIRST_PAUSE
        while True:
            try:
                return self._once(method, url, whole, content, self._timeout + wait, into)
            except (Unreachable, Unavailable, UnexpectedAnswer) as failure:
                again = self._pause_before_retry(failure, pause)
                now = time.monotonic()
                if give_up is None:
                    give_up = now + (self._patience if patience is None else patience)
                if again is None or now + again > give_up:
                    raise
            time.sleep(again)
            pause = min(2 * pause, LONGEST_PAUSE)

    @contextlib.contextmanager
    def lines(self, path: str, accept: str, silence: float) -> Iterator[Iterator[bytes]]:
        """The lines of a streamed answer of the type `accept`; use it in a `with` statement. Raises a
        Problem or UnexpectedAnswer if the answer is another one, and Unreachable if none comes or if
        it sends nothing for `silence` seconds. Does not retry."""
        request = urllib.request.Request(self.base + path, headers={**self._headers, "Accept": accept})
        try:
            with self._opener.open(request, timeout=silence) as response:
                if response.status != 200 or response.headers.get_content_type() != accept:
                    answer = self._checked(Answer(response.status, response.headers, response.read(BLOCK)))
                    raise UnexpectedAnswer(f"check for a proxy in between: {self.base} answered {answer.status} "
                                           f"in another type than {accept}", answer.status)
                yield iter(response)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.base} broke off: {plain(error) or type(error).__name__}") from error

    def _pause_before_retry(self, failure: EpsilondError, pause: float) -> float | None:
        """Seconds until the next try; None if a retry would not help."""
        pause *= random.uniform(0.5, 1)
        if isinstance(failure, (Unavailable, UnexpectedAnswer)):
            if failure.retry_after is not None:
                return max(pause, failure.retry_after)
            return pause if failure.status in GATEWAYS else None
        cause = failure.__cause__
        if isinstance(cause, ssl.SSLCertVerificationError):
            return None
        # An address that never answered is more likely wrong than busy.
        if isinstance(cause, NEVER_ARRIVED) and not self._answered:
            return None
        return pause

    def _once(self, method: str, url: str, headers: Mapping[str, str], content: Content | Stream | None,
              timeout: float, into: BinaryIO | None) -> Answer:
        file: BinaryIO | None = None
        data: bytes | BinaryIO | Iterator[bytes] | None
        if content is None or isinstance(content, bytes):
            data = content
        elif callable(content):
            data = content()
        else:
            data = file = open(content, "rb")
        try:
            request = urllib.request.Request(url, data, dict(headers), method=method)
            if file is not None:
                request.add_header("Content-Length", str(os.fstat(file.fileno()).st_size))
            answer = self._exchange(request, timeout, into)
        finally:
            if file is not None:
                file.close()
        self._answered = True
        return self._checked(answer)

    def _exchange(self, request: urllib.request.Request, timeout: float,
                  into: BinaryIO | None) -> Answer:
        key = request.get_header("Idempotency-key")
        try:
            with self._opener.open(request, timeout=timeout) as response:
                body = b""
                if into is not None and response.status == 200:
                    _store(response, into)
                else:
                    body = response.read()
                return Answer(response.status, response.headers, body)
        except urllib.error.URLError as error:
            cause = error.reason if isinstance(error.reason, Exception) else error
        except (OSError, http.client.HTTPException) as error:
            cause = error
        if isinstance(cause, NEVER_ARRIVED):
            key = None  # the service did not get the request
        raise Unreachable("start epsilond, or say where it is (EPSILOND_URL, or Client(url)): no answer from "
                          f"{self.base}: {plain(cause) or type(cause).__name__}", key) from cause

    def _checked(self, answer: Answer) -> Answer:
        if answer.status < 300 or answer.status == 304:
            return answer
        told = answer.headers.get("Retry-After", "")
        retry_after = int(told) if told.isascii() and told.isdigit() and len(told) < 10 else None
        if "json" in answer.headers.get("Content-Type", ""):
            try:
                body = json.loads(answer.body)
            except ValueError:
                body = None
            problem = problem_from(body, retry_after)
            if problem is not None:
                raise problem
        message = f"check the address (EPSILOND_URL): {self.base} answered {answer.status}, and not as epsilond does"
        if answer.status == 401:
            message = f"give a key (EPSILOND_KEY), or a name and password: {self.base} answered 401"
        elif answer.status < 400:
            message = (f"give the address {plain(answer.headers.get('Location'))!r}, if that is the service: "
                       f"{self.base} redirects to it")
        raise UnexpectedAnswer(message, answer.status, retry_after)


def _store(response: http.client.HTTPResponse, file: BinaryIO) -> None:
    """Writes the whole body to the file, over what an earlier try has left there."""
    left = response.length
    file.seek(0)
    file.truncate()
    while block := response.read(BLOCK):
        try:
            file.write(block)
        except OSError as error:
            raise EpsilondError(f"make room for the answer: {plain(error)}") from error
        left = None if left is None else left - len(block)
    if left:
        raise http.client.IncompleteRead(b"", left)


def _plain_value(value: Any) -> Any:
    """Converts numbers and arrays of numpy to values that JSON supports."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"give numbers, texts, lists or dicts: {type(value).__name__} cannot be sent as JSON")


def segment(identifier: str) -> str:
    """Escapes an identifier as one segment of a path; it may have any characters."""
    return urllib.parse.quote(identifier, safe="")
