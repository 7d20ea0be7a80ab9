"""Tests of `lbcf/runtime.py`: joining, deadline, order and errors. They need no change for another load balancer."""

import asyncio
import inspect
import json
from typing import Any, cast

import pytest

import lbcf
from lbcf import Fail, NotYet
from lbcf.runtime import REQUESTS, Runtime, function_name
from lbcf.server import read_request

BACKEND = {"recordID": "ensureBackend(1)", "retryID": "1", "lbInfo": {"lbID": "1"}, "backendAddr": "10.0.0.1:80"}


class SlowDriver:
    """Has functions for all webhooks, and records when they begin and end."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.error: Exception | None = None
        self.may_end = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        async def function(request: Any) -> object:
            parameters = getattr(request, "parameters", None) or {}
            self.events.append(f"begin {parameters.get('weight', name)}")
            await self.may_end.wait()
            self.events.append(f"end {parameters.get('weight', name)}")
            if self.error:
                raise self.error
            return {}

        return function

    def runtime(self, deadline: float = 8) -> Runtime:
        return Runtime(cast(lbcf.Driver, self), deadline)


async def settle() -> None:
    """Lets every task run until it waits for something that has not happened."""
    for _ in range(20):
        await asyncio.sleep(0)


async def call(runtime: Runtime, webhook: str = "ensureBackend", **members: Any) -> dict[str, Any]:
    request = read_request(webhook, json.dumps(BACKEND | members).encode())
    return (await runtime.call(webhook, request)).model_dump(by_alias=True, exclude_none=True)


def test_the_driver_has_a_function_for_each_webhook_of_the_document() -> None:
    functions = {name for name, _ in inspect.getmembers(lbcf.Driver, inspect.isfunction) if not name.startswith("_")}
    assert functions == {function_name(webhook) for webhook in REQUESTS}
    assert len(functions) == 11


def test_repeated_calls_join_and_others_wait() -> None:
    async def scenario() -> None:
        driver = SlowDriver()
        runtime = driver.runtime()
        calls = [asyncio.create_task(call(runtime, retryID=str(number))) for number in range(3)]
        await settle()
        calls.append(asyncio.create_task(call(runtime, parameters={"weight": "1"})))
        calls.append(asyncio.create_task(call(runtime, "deregisterBackend", parameters={"weight": "2"})))
        other = asyncio.create_task(call(runtime, backendAddr="10.0.0.2:80", parameters={"weight": "other"}))
        await settle()
        assert driver.events == ["begin ensure_backend", "begin other"]
        driver.may_end.set()
        assert {each["status"] for each in await asyncio.gather(*calls, other)} == {"Succ"}
        driver.events = [event for event in driver.events if "other" not in event]
        assert driver.events == [f"{event} {of}" for of in ("ensure_backend", "1", "2") for event in ("begin", "end")]
        assert not runtime._operations
        assert not runtime._latest

    asyncio.run(scenario())


def test_operations_on_a_load_balancer_wait_for_its_creation() -> None:
    async def scenario() -> None:
        driver = SlowDriver()
        runtime = driver.runtime()
        creation = asyncio.create_task(call(runtime, "createLoadBalancer", recordID="createLoadBalancer(1)"))
        await settle()
        members = {"recordID": "deleteLoadBalancer(1)", "lbInfo": None}
        deletion = asyncio.create_task(call(runtime, "deleteLoadBalancer", **members))
        await settle()
        assert driver.events == ["begin create_load_balancer"]
        driver.may_end.set()
        await asyncio.gather(creation, deletion)
        assert driver.events[-1] == "end delete_load_balancer"

    asyncio.run(scenario())


def test_what_takes_long_is_running_and_the_repeated_call_gets_its_result() -> None:
    async def scenario() -> None:
        driver = SlowDriver()
        driver.error = Fail("QuotaExceeded", "no room")
        runtime = driver.runtime(deadline=0.02)
        for _ in range(2):
            response = await call(runtime)
            assert (response["status"], response["minRetryDelayInSeconds"]) == ("Running", 1)
        driver.may_end.set()
        await settle()
        assert await call(runtime) == {"status": "Fail", "reason": "QuotaExceeded", "msg": "no room"}
        assert len(driver.events) == 2, "it ran once"
        assert not runtime._latest

        # Another operation on the same address makes the result worthless.
        driver.may_end.clear()
        await call(runtime)
        runtime._deadline = 8
        driver.may_end.set()
        await settle()
        await call(runtime, parameters={"weight": "1"})
        await call(runtime)
        assert driver.events[-1] == "end ensure_backend"
        assert len(driver.events) == 8

    asyncio.run(scenario())


def test_an_operation_continues_when_its_caller_has_gone() -> None:
    async def scenario() -> None:
        driver = SlowDriver()
        runtime = driver.runtime()
        caller = asyncio.create_task(call(runtime))
        await settle()
        caller.cancel()
        await settle()
        repeated = asyncio.create_task(call(runtime, retryID="2"))
        await settle()
        driver.may_end.set()
        assert (await repeated)["status"] == "Succ"
        assert driver.events == ["begin ensure_backend", "end ensure_backend"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("error", "operation", "decision"),
    [
        (NotYet("wait", 3), {"status": "Running", "minRetryDelayInSeconds": 3, "msg": "wait"}, True),
        (Fail("Conflict", "no"), {"status": "Fail", "reason": "Conflict", "msg": "no"}, False),
        (KeyError("secret"), {"status": "Fail", "reason": "Internal", "msg": "internal error: KeyError"}, False),
    ],
)
def test_errors_become_responses(error: Exception, operation: dict[str, Any], decision: bool) -> None:
    async def scenario() -> None:
        driver = SlowDriver()
        driver.error = error
        driver.may_end.set()
        assert await call(driver.runtime()) == operation
        validation = await call(driver.runtime(), "validateBackend", operation="Create", backendType="Pod")
        assert validation == {"succ": decision, "msg": operation["msg"]}

    asyncio.run(scenario())
