"""What a driver is written with: its webhooks, the errors that it raises, and how it reads fields.

`lbcf.webhooks` has the requests and responses, generated from LBCF's OpenAPI document; `lbcf.runtime` serves
a `Driver` by the rules of LBCF's specification; `lbcf.address` finds the address of a backend.
"""

import json
import re
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from lbcf import webhooks as wh

StringMap = dict[str, str]
Model = TypeVar("Model", bound=BaseModel)
Reason = Literal[
    "InvalidArgument",
    "NotFound",
    "QuotaExceeded",
    "Throttled",
    "Conflict",
    "Unavailable",
    "PermissionDenied",
    "Internal",
]


class Driver(Protocol):
    """The webhooks. An operation returns its result and a decision returns if the answer is yes; `Fail` and
    `NotYet` are the other answers. LBCF repeats operations, so each of them has to be idempotent."""

    async def healthz(self) -> wh.HealthzResponse: ...
    async def validate_load_balancer(self, request: wh.ValidateLoadBalancerRequest) -> None: ...
    async def create_load_balancer(self, request: wh.CreateLoadBalancerRequest) -> StringMap: ...
    async def ensure_load_balancer(self, request: wh.EnsureLoadBalancerRequest) -> None: ...
    async def delete_load_balancer(self, request: wh.DeleteLoadBalancerRequest) -> None: ...
    async def validate_backend(self, request: wh.ValidateBackendRequest) -> None: ...
    async def generate_backend_addr(self, request: wh.GenerateBackendAddrRequest) -> str: ...
    async def ensure_backend(self, request: wh.EnsureBackendRequest) -> StringMap: ...
    async def deregister_backend(self, request: wh.DeregisterBackendRequest) -> None: ...
    async def judge_pod_deregister(self, request: wh.JudgePodDeregisterRequest) -> list[wh.Pod]: ...
    async def list_backends(self, request: wh.ListBackendsRequest) -> list[wh.ListedBackend]: ...


class Fail(Exception):
    """The call did not work. Users read the message; the controller acts on the reason."""

    def __init__(self, reason: Reason, msg: str) -> None:
        super().__init__(msg)
        self.reason = reason


class NotFound(Fail):
    """The load balancer does not exist."""

    def __init__(self, msg: str) -> None:
        super().__init__("NotFound", msg)


class NotYet(Exception):
    """The operation has started, or waits for something that happens on its own: the answer is `Running`,
    and the controller calls again after this number of seconds."""

    def __init__(self, msg: str, delay: int = 2) -> None:
        super().__init__(msg)
        self.delay = delay


def number(least: int, most: int) -> BeforeValidator:
    """For the type of a field: its text is a number in decimal digits. `int()` would accept "+1" and "1_0"."""

    def read_number(text: str) -> int:
        if re.fullmatch("0|[1-9][0-9]{0,17}", text) and least <= int(text) <= most:
            return int(text)
        raise ValueError(f"not a number from {least} to {most}")

    return BeforeValidator(read_number)


def read(model: type[Model], name: str, fields: StringMap | None) -> Model:
    """The fields as this type, or `Fail`, which names each wrong field, its value and what is allowed."""
    try:
        return model.model_validate(fields or {})
    except ValidationError as error:
        known = ", ".join(field.alias or key for key, field in model.model_fields.items())
        problems = []
        for problem in error.errors():
            value, context = json.dumps(problem["input"], ensure_ascii=False)[:200], problem.get("ctx", {})
            text = {
                "missing": "is missing",
                "extra_forbidden": f"no such field; there are {known}",
                "literal_error": f"{value}: not {context.get('expected')}",
                "value_error": f"{value}: {context.get('error')}",
            }.get(problem["type"], f"{value}: {problem['msg']}")
            problems.append(f"{name}.{problem['loc'][0]}: {text}")
        raise Fail("InvalidArgument", "; ".join(problems)) from None


def describe(error: ValidationError) -> str:
    """What is wrong, and where."""
    found = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}".removeprefix(": ") for each in error.errors()[:5])
    return "; ".join(found)


def write(fields: BaseModel) -> StringMap:
    """The fields as a map of strings."""
    return {key: str(value) for key, value in fields.model_dump(by_alias=True, exclude_none=True).items()}


def object_id(record_id: str) -> str:
    """The part of a recordID that is the same for the creation, the updates and the deletion of an object."""
    in_parentheses = re.search(r"\((.+)\)", record_id, re.DOTALL)
    return in_parentheses[1] if in_parentheses else record_id
