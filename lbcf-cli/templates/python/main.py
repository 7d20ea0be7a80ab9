"""Starts the driver; `python main.py --help` lists the flags."""

import argparse
import asyncio
import logging
import os
import re
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn

from cloud import Cloud
from driver import MyDriver
from lbcf import Fail
from lbcf.runtime import Runtime
from lbcf.server import create_app
from observer import create_router
from proxy import Proxy

SHUTDOWN_WITHIN = 25  # seconds, for calls and operations that are running


def main() -> None:
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    arguments = _parse_arguments()
    try:
        asyncio.run(_serve(arguments))
    except (Fail, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


async def _serve(arguments: argparse.Namespace) -> None:
    cloud = Cloud(arguments.cloud_file, Proxy() if arguments.forward else None)
    listener = _listen(arguments.listen)
    try:
        await cloud.connect()
        runtime = Runtime(MyDriver(cloud, arguments.drain))
        app = create_app(runtime)
        if arguments.observe:
            app.include_router(create_router(cloud))
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                lifespan="off",
                ws="none",
                access_log=False,
                log_config=None,
                timeout_keep_alive=75,  # longer than callers keep connections open, so that they close them
                timeout_graceful_shutdown=SHUTDOWN_WITHIN,
            )
        )
        # While it runs, the server has the same handlers, and at its end it raises the signals again.
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signal_number, server.handle_exit)
        host, port = listener.getsockname()[:2]
        print(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
        await server.serve([listener])
        await runtime.finish(SHUTDOWN_WITHIN)
    finally:
        await cloud.close()


def _listen(address: tuple[str, int]) -> socket.socket:
    try:
        family, _, _, _, at = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]
        return socket.create_server(at[:2], family=family)
    except OSError as error:
        raise OSError(f"--listen {address[0]}:{address[1]}: {error.strerror}") from error


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="An LBCF driver", allow_abbrev=False)

    def add(flag: str, default: str, text: str, **options: Any) -> None:
        variable = flag.removeprefix("--").replace("-", "_").upper()
        text += f" [env: {variable}]"
        # As the default is a text, it is checked as if it were an argument.
        parser.add_argument(flag, default=os.environ.get(variable) or default, help=text, **options)

    listen = "127.0.0.1:__PORT__"
    add("--listen", listen, f"where to serve, 0 for a free port; default {listen}", type=_address, metavar="HOST:PORT")
    add("--cloud-file", "", "keep the load balancers in this file", type=_path, metavar="FILE")
    switch = {"nargs": "?", "const": True, "type": _switch, "metavar": "true|false"}
    add("--forward", "false", "listen on 127.0.0.1 for each load balancer, and forward to its backends", **switch)
    add("--observe", "false", "show and change the cloud at /_observe, for `lbcf conformance`", **switch)
    add("--drain", "0", "how long deregistered backends keep connections; default 0", type=_seconds, metavar="SECONDS")
    return parser.parse_args()


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _switch(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"{text!r}: not true or false")
    return text in ("true", "1")


def _address(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"(?:\[(.+)\]|([^:]+)):([0-9]{1,5})", text)
    if not match or int(match[3]) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r}: not HOST:PORT")
    return match[1] or match[2], int(match[3])


def _seconds(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text):
        raise argparse.ArgumentTypeError(f"{text!r}: not a number of seconds")
    return int(text)


if __name__ == "__main__":
    main()
