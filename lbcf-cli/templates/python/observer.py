"""The state of the cloud, whatever the driver responds: for `lbcf conformance`, with `--observe`.

FILL-IN: read it from your load balancer's API. `POST /_observe/fault` makes the API fail for a while; with a real one,
remove the route and `fault` in `conformance.yaml`, or block the connection to it.
"""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from cloud import Backend, Cloud
from driver import Attributes, LbInfo, lb_info_of
from lbcf import StringMap, address, read, write


class Change(BaseModel):
    """A change that the driver does not know of, as by hand."""

    lb_info: StringMap = Field(alias="lbInfo")
    addr: str = ""
    attributes: StringMap = {}

    @property
    def lb_id(self) -> str:
        return read(LbInfo, "lbInfo", self.lb_info).lb_id


class Fault(BaseModel):
    on: bool


def create_router(cloud: Cloud) -> APIRouter:
    """The routes, which everyone who can call the driver can use: not for production."""
    router = APIRouter(prefix="/_observe")

    @router.get("")
    async def observe() -> dict[str, Any]:
        return {
            "loadBalancers": [
                {
                    "lbInfo": lb_info_of(lb_id, load_balancer),
                    "attributes": load_balancer.attributes,
                    "backends": [
                        {"addr": addr, "parameters": {"weight": str(backend.weight)}}
                        for addr, backend in load_balancer.backends.items()
                    ],
                }
                for lb_id, load_balancer in cloud.load_balancers.items()
            ]
        }

    @router.post("/foreign")
    async def register(change: Change) -> None:
        address.check(change.addr)
        await cloud.register(change.lb_id, change.addr, Backend(weight=1), dry_run=False)

    @router.post("/unbind")
    async def deregister(change: Change) -> None:
        await cloud.deregister(change.lb_id, change.addr, dry_run=False)

    @router.post("/attributes")
    async def set_attributes(change: Change) -> None:
        attributes = read(Attributes, "attributes", change.attributes)
        await cloud.set_attributes(change.lb_id, write(attributes), dry_run=False)

    @router.post("/fault")
    async def set_fault(fault: Fault) -> None:
        cloud.has_outage = fault.on

    return router
