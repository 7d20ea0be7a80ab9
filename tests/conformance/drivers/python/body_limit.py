"""A limit for requests, so that no client can exhaust the memory or occupy the driver indefinitely."""

import asyncio

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LIMIT = 4 * 1024 * 1024  # bytes; a request contains a whole pod, which Kubernetes limits to about 1.5 MiB
DRAIN = 16 * 1024 * 1024  # bytes that are read and discarded before the connection is closed
DEADLINE = 10  # seconds for a whole body


class BodyLimit:
    """Reads the body before the application sees the call. One that is too large is read to its end
    nevertheless: a caller that is hung up on while it writes may never see the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        try:
            async with asyncio.timeout(DEADLINE):
                body = await read(receive)
        except ConnectionError:
            return None
        except TimeoutError:
            return await refuse(408, f"the body took longer than {DEADLINE} s")(scope, receive, send)
        if body is None:
            return await refuse(413, f"the body is larger than {LIMIT} bytes")(scope, receive, send)

        message: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def replay() -> Message:
            nonlocal message
            given, message = message, None
            return given or await receive()

        return await self.app(scope, replay, send)


async def read(receive: Receive) -> bytes | None:
    """The whole body, or `None` if it is too large."""
    body, size, more = bytearray(), 0, True
    while more and size <= DRAIN:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= LIMIT:
            body += chunk
        more = message.get("more_body", False)
    return bytes(body) if size <= LIMIT else None


def refuse(status: int, error: str) -> JSONResponse:
    # Otherwise uvicorn would read and discard for as long as the client continues to write.
    return JSONResponse({"error": error}, status, {"Connection": "close"})
