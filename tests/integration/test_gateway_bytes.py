"""What the gateway sends on and passes back, byte by byte: plain sockets on both sides."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.service import Running, running
from wellkept.server import Settings, client

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Wire:
    """A server that notes each request's bytes and answers with ``answer``, whatever was asked.

    ``closing``: it closes the connection behind each answer, without having said so. ``deaf``: it reads nothing.
    """

    def __init__(self, answer: bytes = OK, *, closing: bool = False, deaf: bool = False) -> None:
        self.answer, self.closing, self.deaf = answer, closing, deaf
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self.closed = threading.Semaphore(0)
        self.host = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                if not self.deaf:
                    threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as reader:
            while head := b"".join(iter(reader.readline, b"\r\n")):
                fields = dict(line.lower().split(b": ", 1) for line in head.splitlines()[1:])
                self.heads.append(head)
                self.bodies.append(reader.read(int(fields.get(b"content-length", b"0"))))
                connection.sendall(self.answer)
                if self.closing:
                    break
        self.closed.release()

    @property
    def lines(self) -> list[bytes]:
        """The first line of the last request, and its headers in order, their names in lower case."""
        first, *fields = self.heads[-1].splitlines()
        return [
            first,
            *sorted(name.lower() + b": " + value for name, value in (f.split(b": ", 1) for f in fields)),
        ]


@contextmanager
def serving(wire: Wire, url: str | None = None, **options: float) -> Iterator[Running]:
    url = url or f"http://{wire.host}/v1"
    settings = Settings(namespace="acme", user="a", port=0, openai_upstream=url, **options)  # type: ignore[arg-type]
    try:
        with running(settings=settings) as service:
            yield service
    finally:
        wire.close()


@pytest.fixture(scope="module")
def house() -> Iterator[tuple[Running, Wire]]:
    """One service and its upstream for those tests that need no other."""
    wire = Wire()
    with serving(wire) as service:
        yield service, wire


@pytest.fixture
def service(house: tuple[Running, Wire]) -> Running:
    return house[0]


@pytest.fixture
def wire(house: tuple[Running, Wire]) -> Wire:
    wire = house[1]
    wire.answer, wire.closing, wire.heads, wire.bodies = OK, False, [], []
    return wire


def ask(service: Running, request: bytes) -> bytes:
    """What comes until the service closes the connection."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def head(first: bytes, *fields: bytes) -> bytes:
    return b"\r\n".join([first, b"host: 127.0.0.1", b"connection: close", *fields, b"", b""])


def test_a_request_goes_on_as_it_was_written(service: Running, wire: Wire) -> None:
    mine = [b"authorization: Bearer k", b"x-more: 1", b"x-more: 2", "x-name: 小明".encode()]
    first = b"POST /openai/v1/a//b/%7Ec%2fd;e?q=%2F+x&&y=[1]&z='%20 HTTP/1.1"
    ask(service, head(first, *mine, b"cookie: c", b"te: trailers", b"content-length: 3") + b"\x00\xff{")
    added = [b"accept-encoding: identity", b"content-length: 3", f"host: {wire.host}".encode()]
    assert wire.lines[0] == b"POST /v1/a//b/%7Ec%2fd;e?q=%2F+x&&y=[1]&z='%20 HTTP/1.1"
    assert wire.lines[1:] == sorted(mine + added)
    assert wire.bodies == [b"\x00\xff{"]


@pytest.mark.parametrize(
    ("method", "length"), [("GET", []), ("DELETE", [b"0"]), ("PUT", [b"0"]), ("POST", [b"0"])]
)
def test_a_request_without_a_body_goes_on_without_one(
    service: Running, wire: Wire, method: str, length: list[bytes]
) -> None:
    ask(service, head(f"{method} /openai/v1/files HTTP/1.1".encode()))
    assert [line.split()[1] for line in wire.lines if line.startswith(b"content-length")] == length
    assert not any(
        line.startswith((b"transfer-encoding", b"content-type", b"user-agent")) for line in wire.lines
    )


def test_a_large_body_goes_on_as_it_is(service: Running, wire: Wire) -> None:
    body = bytes(range(256)) * (12 << 10)
    assert service.client.post("/openai/v1/files", content=body).content == b"ok"
    assert wire.bodies == [body]


def test_a_header_that_would_become_another_is_refused(service: Running, wire: Wire) -> None:
    answer = ask(service, head(b"GET /openai/v1/models HTTP/1.1", b"x-name: caf\xe9"))
    assert answer.startswith(b"HTTP/1.1 422 ")
    assert b"UTF-8" in answer
    assert wire.heads == []


LONG = b"x" * (40 << 10)
ANSWERS = [
    pytest.param(b"200 OK", [b"set-cookie: a=1", b"set-cookie: b=2", b"x-long: " + LONG], b"{}", id="headers"),
    pytest.param(b"200 OK", [b"x-name: caf\xe9", "x-also: 小明".encode()], b"{}", id="bytes in headers"),
    pytest.param(b"200 OK", [b"content-encoding: gzip"], gzip.compress(b"{}"), id="gzip"),
    pytest.param(b"200 OK", [b"content-encoding: br"], b"no brotli", id="an encoding that nobody knows"),
    pytest.param(b"307 Temporary Redirect", [b"location: http://127.0.0.1:1/"], b"there", id="redirect"),
    pytest.param(b"404 Not Found", [b"content-type: text/plain"], b"", id="empty"),
    pytest.param(b"529 Overloaded", [b"retry-after: 1"], b"later", id="a status of its own"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "fields", "body"), ANSWERS)
@pytest.mark.parametrize("framing", ["length", "chunks", "close"])
def test_an_answer_comes_back_as_it_is(
    service: Running, wire: Wire, status: bytes, fields: list[bytes], body: bytes, framing: str
) -> None:
    version = b"HTTP/1.0 " if framing == "close" else b"HTTP/1.1 "
    frames = {"length": f"content-length: {len(body)}".encode(), "chunks": b"transfer-encoding: chunked"}
    framed = body
    if framing == "chunks":
        framed = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    lines = [version + status, *fields, *([frames[framing]] if framing in frames else []), b"", framed]
    wire.answer, wire.closing = b"\r\n".join(lines), framing == "close"
    path = "/openai/v1/files/1/content"
    got = service.client.get(path, headers={"accept-encoding": "gzip"}, follow_redirects=False)
    raw = ask(service, head(f"GET {path} HTTP/1.1".encode()))
    assert str(got.status_code).encode() == status[:3]
    theirs = [b": ".join(pair) for pair in got.headers.raw]
    own = (b"date:", b"transfer-encoding:")
    assert [line for line in theirs if not line.startswith(own)] == fields
    assert chunked(raw.partition(b"\r\n\r\n")[2]) == body


def chunked(raw: bytes) -> bytes:
    body = b""
    while raw and (size := int(raw.partition(b"\r\n")[0], 16)):
        start = raw.index(b"\r\n") + 2
        body, raw = body + raw[start : start + size], raw[start + size + 2 :]
    return body


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_an_answer_that_has_no_body_has_none(service: Running, wire: Wire, status: bytes) -> None:
    wire.answer = b"HTTP/1.1 " + status + b"\r\netag: x\r\n\r\n"
    first, second = (service.client.get("/openai/v1/files/1") for _ in range(2))
    assert [first.status_code, second.status_code] == [int(status[:3])] * 2
    assert (second.headers["etag"], second.content) == ("x", b"")


GARBAGE = [
    b"SSH-2.0-x\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nx: " + bytes(1 << 20) + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nx",
]


@pytest.mark.parametrize("answer", GARBAGE, ids=["no http", "endless head", "half a head"])
def test_an_answer_that_is_none_is_told_as_an_error(service: Running, wire: Wire, answer: bytes) -> None:
    wire.answer, wire.closing = answer, True
    done = service.client.get("/openai/v1/models")
    assert (done.status_code, done.headers["x-wellkept-source"]) == (502, "gateway")


def test_what_came_before_a_cut_is_passed_on(service: Running, wire: Wire) -> None:
    wire.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n" + b"x" * 99
    wire.closing = True
    answer = ask(service, head(b"POST /openai/v1/embeddings HTTP/1.1", b"content-length: 2") + b"{}")
    assert b"x" * 99 in answer
    assert not answer.endswith(b"0\r\n\r\n"), "a cut is passed on as one"


def test_a_connection_that_the_upstream_closed_is_not_used_again(service: Running, wire: Wire) -> None:
    wire.closing = True
    for _ in range(5):
        while wire.closed.acquire(blocking=False):
            pass
        assert service.client.post("/openai/v1/embeddings", json={}).content == b"ok"
        assert wire.closed.acquire(timeout=5)


def test_an_upstream_that_does_not_take_a_request_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.2)
    wire = Wire(deaf=True)
    with serving(wire, upstream_seconds=0.3) as service:
        done = service.client.post("/openai/v1/files", content=bytes(24 << 20))
        wire.close()
    assert done.status_code == 504


# ── the way there
# ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Wire()
    monkeypatch.setenv("HTTP_PROXY", f"http://me:secret@{wire.host}")
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.setenv("NO_PROXY", "")
    with serving(wire, "http://models.invalid/v1") as service:
        assert service.client.get("/openai/v1/models", headers={"authorization": "Bearer k"}).content == b"ok"
    assert wire.lines[0] == b"GET http://models.invalid/v1/models HTTP/1.1"
    sent = {b"proxy-authorization: Basic bWU6c2VjcmV0", b"authorization: Bearer k", b"host: models.invalid"}
    assert sent <= {*wire.lines}


def test_where_the_environment_wants_no_proxy_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    wire = Wire()
    with serving(wire) as service:
        assert service.client.get("/openai/v1/models").content == b"ok"


def test_an_address_with_a_login_uses_it() -> None:
    wire = Wire()
    with serving(wire, f"http://me:secret@{wire.host}/v1") as service:
        assert service.client.get("/openai/v1/models", headers={"authorization": "Bearer k"}).content == b"ok"
    assert [line for line in wire.lines if b"authorization" in line] == [b"authorization: Basic bWU6c2VjcmV0"]


def test_nothing_of_the_network_of_this_machine_is_sent_along(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    wire = Wire()
    with serving(wire) as service:
        assert service.client.get("/openai/v1/models").content == b"ok"
    assert not any(b"authorization" in line for line in wire.lines)
