"""The driver's HTTP server: reads and checks requests, and has them answered by the runtime."""

import asyncio
import json
import logging
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from lbcf import Fail, describe
from lbcf.runtime import REQUESTS, Runtime
from lbcf.webhooks import HealthzResponse

BODY_LIMIT = 4 * 1024 * 1024  # bytes; a request contains a whole pod
DISCARDED = 16 * 1024 * 1024  # bytes; a caller whose connection is closed while it writes may not see the answer
BODY_WITHIN = 10.0  # seconds
# What controllers may omit, or write as null.
OPTIONAL = ("lbSpec", "lbInfo", "attributes", "parameters", "injectedInfo", "podBackend", "serviceBackend")

log = logging.getLogger("lbcf")


def read_request(webhook: str, body: bytes) -> BaseModel:
    """The request, or an HTTPException with what is wrong with it."""
    try:
        content = json.loads(body.decode(), object_pairs_hook=_unique)
        if not isinstance(content, dict):
            raise ValueError("the body is not a JSON object")
        if content.get("oldParameters") is None:
            content["oldParameters"] = content.get("OldParameters")
        if content.get("notReadyPods") is None:
            content["notReadyPods"] = []
        for backend in (content.get("podBackend"), content.get("serviceBackend"), content.get("endpointBackend")):
            _write_protocol_in_capitals(backend)
        # As JSON, in which a time is a string, and not as a dict, in which it would be a datetime.
        text = json.dumps(dict.fromkeys(OPTIONAL) | content, allow_nan=False)
        return REQUESTS[webhook].model_validate_json(text, strict=True)
    except RecursionError:
        problem = "the body is nested too deeply"
    except ValidationError as error:
        problem = describe(error)
    except ValueError as error:
        problem = str(error)
    raise HTTPException(400, problem)


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(members)
    if len(content) < len(members):
        raise ValueError("a member of an object appears twice")
    return content


def _write_protocol_in_capitals(backend: Any) -> None:
    """In a backend, and in its ports, but not in a pod, where annotations may have any name."""
    if isinstance(backend, dict):
        if isinstance(backend.get("protocol"), str):
            backend["protocol"] = backend["protocol"].upper()
        _write_protocol_in_capitals(backend.get("port"))
        _write_protocol_in_capitals(backend.get("service"))


async def read_body(request: Request) -> bytes:
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(BODY_WITHIN):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= BODY_LIMIT:
                    body += chunk
                elif size > DISCARDED:
                    break
    except TimeoutError:
        raise HTTPException(408, f"the body took longer than {BODY_WITHIN:g} s", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HTTPException(400, "the caller has gone") from None
    if size > BODY_LIMIT:
        raise HTTPException(413, f"the body is larger than {BODY_LIMIT} bytes", {"Connection": "close"})
    return bytes(body)


def create_app(runtime: Runtime) -> FastAPI:
    """The routes. A redirect would make a POST a GET, so a path with a slash at its end is unknown."""
    app = FastAPI(openapi_url=None, redirect_slashes=False, strict_content_type=False)

    def add_route(webhook: str) -> None:
        @app.post(f"/{webhook}")
        async def call(http: Request) -> Response:
            request: Any = read_request(webhook, await read_body(http))
            response: Any = await runtime.call(webhook, request)
            status = getattr(response, "status", None) or response.succ
            if status in ("Fail", False):
                named = f"{request.namespace}/{request.name}" if request.name else getattr(request, "record_id", "")
                log.warning("%s %r: %s: %s", webhook, named, status, response.msg)
            return _json(response)

    for webhook in REQUESTS.keys() - {"healthz"}:
        add_route(webhook)

    @app.api_route("/healthz", methods=["GET", "POST"])
    async def healthz(http: Request) -> Response:
        if body := await read_body(http):
            read_request("healthz", body)
        try:
            return _json(await runtime.driver.healthz())
        except Exception:
            log.exception("healthz: a defect of the driver")
            return _json(HealthzResponse(healthy=False))

    @app.get("/livez")
    @app.get("/readyz")
    async def is_alive() -> str:
        return "ok"

    @app.exception_handler(HTTPException)
    async def improper_call(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    # Those of the observer; the errors of webhooks are in their responses.
    @app.exception_handler(Fail)
    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, 400)

    return app


def _json(response: BaseModel) -> Response:
    return Response(response.model_dump_json(by_alias=True, exclude_none=True), media_type="application/json")
