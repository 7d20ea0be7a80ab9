"""Runs a driver's functions by the rules of LBCF's specification, so that the driver has only its own logic.

A repeated call joins the running one, operations on one object run one after the other, an operation
continues when its caller has gone, and one that takes long is answered with `Running` in time.
"""

import asyncio
import json
import logging
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from lbcf import Driver, Fail, NotYet, object_id
from lbcf import webhooks as wh

RESULT_KEPT = 300.0  # seconds, for the call that follows one that was answered with Running

# The types of requests by webhook. A new webhook needs a function in `Driver`, and `Runtime` does not start without.
REQUESTS: dict[str, type[BaseModel]] = {
    name[0].lower() + name.removesuffix("Request")[1:]: model
    for name, model in vars(wh).items()
    if name.endswith("Request")
}
# The member of the response that has the result of the driver's function.
RESULTS = {
    "createLoadBalancer": "lb_info",
    "generateBackendAddr": "backend_addr",
    "ensureBackend": "injected_info",
    "judgePodDeregister": "do_not_deregister",
    "listBackends": "backends",
}
log = logging.getLogger("lbcf")


@dataclass(eq=False)
class Operation:
    """A call in flight, and those that joined it."""

    content: str
    keys: list[str]  # operations that have a key in common run one after the other
    task: asyncio.Task[BaseModel] = field(init=False)
    is_late: bool = False  # a caller was answered with Running, and comes back for the result
    is_superseded: bool = False  # a later operation has a key in common, so the result may soon be outdated


class Runtime:
    """Runs the functions of a driver."""

    def __init__(self, driver: Driver, deadline: float = 8.0) -> None:
        self.driver = driver
        self._functions = {webhook: getattr(driver, function_name(webhook)) for webhook in REQUESTS}
        self._deadline = deadline
        self._operations: dict[str, Operation] = {}  # by content
        self._latest: dict[str, Operation] = {}  # by key

    async def call(self, webhook: str, request: Any) -> BaseModel:
        """The response, which comes at the deadline at the latest."""
        content = json.dumps([webhook, request.model_dump(mode="json", exclude={"retry_id"})], sort_keys=True)
        operation = self._operations.get(content) or self._start(content, webhook, request)
        await asyncio.wait({operation.task}, timeout=self._deadline)
        if not operation.task.done():
            operation.is_late = True
            return response_of(webhook, NotYet(f"takes longer than {self._deadline:g} s, and continues", delay=1))
        self._forget(operation)
        return operation.task.result()

    async def finish(self, within: float) -> None:
        """Waits for operations whose callers have gone."""
        if tasks := [operation.task for operation in self._operations.values()]:
            await asyncio.wait(tasks, timeout=within)

    def _start(self, content: str, webhook: str, request: Any) -> Operation:
        operation = Operation(content, order_keys(webhook, request))
        earlier = [self._latest[key] for key in operation.keys if key in self._latest]
        for each in earlier:
            each.is_superseded = True
            if each.task.done():
                self._forget(each)
        operation.task = asyncio.create_task(self._run([each.task for each in earlier], webhook, request))
        operation.task.add_done_callback(lambda _: self._ended(operation))
        self._operations[content] = operation
        self._latest.update(dict.fromkeys(operation.keys, operation))
        return operation

    async def _run(self, earlier: list[asyncio.Task[BaseModel]], webhook: str, request: Any) -> BaseModel:
        if earlier:
            await asyncio.wait(earlier)
        try:
            return response_of(webhook, await self._functions[webhook](request))
        except (Fail, NotYet) as answer:
            return response_of(webhook, answer)
        except Exception as error:
            log.exception("%s: a defect of the driver", webhook)
            return response_of(webhook, Fail("Internal", f"internal error: {type(error).__name__}"))

    def _ended(self, operation: Operation) -> None:
        if operation.is_late and not operation.is_superseded:
            asyncio.get_running_loop().call_later(RESULT_KEPT, self._forget, operation)
        else:
            self._forget(operation)

    def _forget(self, operation: Operation) -> None:
        if self._operations.get(operation.content) is operation:
            del self._operations[operation.content]
        for key in operation.keys:
            if self._latest.get(key) is operation:
                del self._latest[key]


def function_name(webhook: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", webhook)


def order_keys(webhook: str, request: Any) -> list[str]:
    """What the operation changes: the load balancer, by its object and its lbInfo, or a backend of it."""
    lb_info = json.dumps(getattr(request, "lb_info", None) or {}, sort_keys=True)
    if webhook in ("createLoadBalancer", "ensureLoadBalancer", "deleteLoadBalancer"):
        return [object_id(request.record_id)] + ([lb_info] if lb_info != "{}" else [])
    return [f"{lb_info} {request.backend_addr}"] if webhook in ("ensureBackend", "deregisterBackend") else []


def response_of(webhook: str, result: object) -> BaseModel:
    model: type[BaseModel] = getattr(wh, webhook[0].upper() + webhook[1:] + "Response")
    is_decision = "succ" in model.model_fields
    content: dict[str, Any]
    match result:
        case Fail(reason=reason):
            content = {"succ": False} if is_decision else {"status": "Fail", "reason": reason}
        case NotYet(delay=delay) if is_decision:
            # What cannot be validated now is accepted, because the operation that follows is repeated.
            content = {"succ": webhook.startswith("validate")}
        case NotYet(delay=delay):
            content = {"status": "Running", "min_retry_delay_in_seconds": delay}
        case _:
            content = {"succ": True} if is_decision else {"status": "Succ"}
            if webhook in RESULTS:
                content[RESULTS[webhook]] = result
    return model(msg=str(result) if isinstance(result, Exception) else "", **content)


def drain_time_left(request: wh.DeregisterBackendRequest, seconds: float) -> float:
    """For how long the backend still drains: from when its deregistration was requested first."""
    first = request.first_requested_at
    return seconds - (datetime.now(UTC) - first).total_seconds() if first else 0
