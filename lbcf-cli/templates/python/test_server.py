"""Tests of `lbcf/server.py` and `main.py`: improper requests, routes, flags, and the end of the process."""

import asyncio
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import uvicorn
from starlette.exceptions import HTTPException

from lbcf import Driver
from lbcf import webhooks as wh
from lbcf.runtime import Runtime
from lbcf.server import BODY_LIMIT, create_app, read_request

BACKEND = {"recordID": "ensureBackend(1)", "retryID": "1", "lbInfo": {"lbID": "1"}, "backendAddr": "10.0.0.1:80"}
COMMAND = [sys.executable, "main.py", "--listen"]
FOLDER = Path(__file__).parent


class SlowDriver:
    """Has functions for all webhooks, which wait until the test lets them end."""

    def __init__(self) -> None:
        self.calls = 0
        self.may_end = threading.Event()

    def __getattr__(self, name: str) -> Any:
        async def function(request: Any) -> object:
            self.calls += 1
            await asyncio.to_thread(self.may_end.wait)
            return {}

        return function


class CountingRuntime(Runtime):
    """Counts the calls that it gets, also those that join another one."""

    received = 0

    async def call(self, webhook: str, request: Any) -> Any:
        self.received += 1
        return await super().call(webhook, request)

    def wait(self, received: int) -> None:
        end = time.monotonic() + 10
        while self.received < received:
            assert time.monotonic() < end
            time.sleep(0.001)


def test_what_controllers_write_in_different_ways_is_read() -> None:
    validation = read_request("validateBackend", b'{"operation":"","backendType":"","OldParameters":{"weight":"1"}}')
    assert isinstance(validation, wh.ValidateBackendRequest)
    assert (validation.old_parameters, validation.parameters) == ({"weight": "1"}, None)
    with_more = BACKEND | {"parameters": None, "firstRequestedAt": "2026-01-01T00:00:00Z", "more": [1]}
    assert isinstance(read_request("deregisterBackend", json.dumps(with_more).encode()), wh.DeregisterBackendRequest)


@pytest.mark.parametrize(
    "body",
    [
        *("", "[]", "null", "{", "{}{}", '{"a":1,"a":2}', '{"a":NaN}', "\ufeff{}", '{"a":' * 100_000),
        json.dumps(BACKEND | {"recordID": 5}),
        json.dumps(BACKEND | {"recordID": "\ud800"}),
        json.dumps(BACKEND | {"dryRun": "true"}),
        json.dumps(BACKEND | {"parameters": {"weight": 5}}),
    ],
)
def test_improper_bodies_are_rejected(body: str) -> None:
    with pytest.raises(HTTPException) as caught:
        read_request("ensureBackend", body.encode())
    assert caught.value.status_code == 400
    assert len(caught.value.detail) < 300


@pytest.fixture
def connection() -> Iterator[http.client.HTTPConnection]:
    command = [*COMMAND, "127.0.0.1:0", "--observe"]
    with subprocess.Popen(command, cwd=FOLDER, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout
        port = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", driver.stdout.readline())
        assert port
        connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=10)
        yield connection
        connection.close()
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(10) == 0


def test_the_server(connection: http.client.HTTPConnection) -> None:
    def send(method: str, path: str, body: bytes = b"") -> tuple[int, Any]:
        connection.request(method, path, body, {"content-type": "text/plain; charset=x"} if body else {})
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text)

    assert send("POST", "/ensureBackend", json.dumps(BACKEND).encode())[1]["reason"] == "NotFound"
    for method, body in (("GET", b""), ("POST", b""), ("POST", b"{}")):
        assert send(method, "/healthz", body)[1]["healthy"]
    assert [send("GET", path)[0] for path in ("/livez", "/readyz")] == [200, 200]
    assert [send("POST", path, b"{}")[0] for path in ("/healthz/", "/nothing", "/")] == [404, 404, 404]
    assert send("GET", "/ensureBackend") == (405, {"error": "Method Not Allowed"})
    assert send("POST", "/ensureBackend", b"[" * 100_000) == (400, {"error": "the body is nested too deeply"})
    assert send("POST", "/ensureBackend", b" " * (10 * 1024 * 1024))[0] == 413
    assert send("POST", "/healthz", b"{" + b" " * (BODY_LIMIT - 2) + b"}")[0] == 200
    assert send("POST", "/_observe/fault", b"{}")[0] == 400


def test_what_prevents_the_start_is_named(tmp_path: Path) -> None:
    file = tmp_path / "cloud.json"
    file.write_text('{"lb-1": ')
    with socket.create_server(("127.0.0.1", 0)) as other:
        used = f"127.0.0.1:{other.getsockname()[1]}"
        for arguments, text in (
            ([used], f"--listen {used}: Address already in use"),
            (["127.0.0.1:0", "--cloud-file", str(file)], f"{file}: Invalid JSON: EOF while parsing a value at line 1"),
            (["127.0.0.1:0", "--cloud-file", str(tmp_path / "no" / "file")], "No such file"),
            (["80"], "not HOST:PORT"),
            (["127.0.0.1:0", "--drain", "-1"], "not a number of seconds"),
        ):
            ended = subprocess.run([*COMMAND, *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=30)
            assert ended.returncode == 2
            assert text in ended.stderr


def test_an_operation_continues_when_its_caller_disconnects() -> None:
    driver = SlowDriver()
    runtime = CountingRuntime(cast(Driver, driver))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(runtime), lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        for number in (1, 2):
            connection = http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1], timeout=10)
            connection.request("POST", "/ensureBackend", json.dumps(BACKEND))
            runtime.wait(number)
            connection.close()
        connection.request("POST", "/ensureBackend", json.dumps(BACKEND))
        runtime.wait(3)
        driver.may_end.set()
        assert json.loads(connection.getresponse().read())["status"] == "Succ"
        connection.close()
        server.should_exit = True
        thread.join()
    assert driver.calls == 1
