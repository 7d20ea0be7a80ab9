"""For tests only: the contents of the cloud, which `lbcf conformance` compares with the driver's
responses. It is no webhook; remove it from a driver in production."""

from typing import Any

from fastapi import APIRouter

from cloud import Backend, Cloud
from wire import Map, Text, Wire


class Foreign(Wire):
    """A backend that is registered outside of the driver."""

    lbInfo: Map
    addr: Text


def observer(cloud: Cloud) -> APIRouter:
    """Serves `/_observe`."""
    router = APIRouter(prefix="/_observe")

    @router.get("")
    def observe() -> dict[str, Any]:
        return {
            "loadBalancers": [
                {
                    "lbInfo": {"lbID": lb.id},
                    "attributes": lb.attributes,
                    "backends": [
                        {"addr": addr, "parameters": backend.parameters} for addr, backend in lb.backends.items()
                    ],
                }
                for lb in cloud.load_balancers()
            ]
        }

    @router.post("/foreign")
    def plant(foreign: Foreign) -> dict[str, Any]:
        cloud.bind(foreign.lbInfo.get("lbID", ""), foreign.addr, Backend({}), dry_run=False)
        return {}

    return router
