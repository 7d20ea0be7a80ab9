"""The driver: the fields that users write, with their rules, and LBCF's webhooks.

FILL-IN: the fields of your load balancer, and what the functions do with them, five of them numbered below. LBCF's
controller repeats a call until it succeeds, and makes it again later, for example when a response was lost or a
parameter changed. So each function is idempotent: it brings the cloud to the requested state, and succeeds if it is
in that state already. Keep no state between calls, as processes restart.

`lbcf/runtime.py` does the rest: it joins repeated calls, keeps the order, and answers `Running` in time. Raise `Fail`
with a reason, or `NotYet`.
"""

from contextlib import suppress
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from cloud import Backend, Cloud, LoadBalancer
from lbcf import Fail, NotFound, NotYet, StringMap, address, number, object_id, read, write
from lbcf import webhooks as wh
from lbcf.runtime import drain_time_left

KEEP_REGISTERED = "lbcf.example.com/keep-registered"  # the annotation of pods that stay while they are not ready
Protocol = Annotated[Literal["TCP", "UDP"], BeforeValidator(str.upper)]


class LbSpec(BaseModel, extra="forbid"):
    """`spec.lbSpec` of a LoadBalancer: what identifies it, and never changes."""

    vpc_id: str = Field(alias="lbVpcID", min_length=1)
    port: Annotated[int, number(1, 65535)] = Field(alias="lbListenerPort")
    protocol: Protocol = Field("TCP", alias="lbListenerProtocol")


class Attributes(BaseModel, extra="allow"):
    """`spec.attributes` of a LoadBalancer: its settings. What is not known here is stored as it is."""

    charge_type: Literal["TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR"] = Field(
        "TRAFFIC_POSTPAID_BY_HOUR", alias="chargeType"
    )
    max_bandwidth_out: Annotated[int, number(0, 2**32 - 1)] | None = Field(None, alias="max-bandwidth-out")


class Parameters(BaseModel, extra="forbid"):
    """`spec.parameters` of a BackendGroup: how its backends are registered."""

    weight: Annotated[int, number(0, 255)] = 10


class LbInfo(BaseModel):
    """The identity of a load balancer, which LBCF stores and sends in later calls."""

    lb_id: str = Field(alias="lbID", min_length=1)
    protocol: Protocol = "TCP"


def lb_info_of(lb_id: str, load_balancer: LoadBalancer) -> StringMap:
    protocol, address = load_balancer.protocol, f"127.0.0.1:{load_balancer.port}"
    return {"lbID": lb_id, "protocol": protocol, "address": address}


class MyDriver:
    """The functions of `lbcf.Driver`, which has no state but the client of the cloud."""

    def __init__(self, cloud: Cloud, drain: float = 0) -> None:
        self._cloud = cloud
        self._drain = drain  # seconds

    async def healthz(self) -> wh.HealthzResponse:
        return wh.HealthzResponse(healthy=True, specification="1", features=["cancel", "reasons"])

    async def validate_load_balancer(self, request: wh.ValidateLoadBalancerRequest) -> None:
        _check_word("operation", request.operation, "Create", "Update")
        read(LbSpec, "lbSpec", request.lb_spec)
        read(Attributes, "attributes", request.attributes)

    async def create_load_balancer(self, request: wh.CreateLoadBalancerRequest) -> StringMap:
        """FILL-IN 1 of 5: creates the load balancer and returns its identity."""
        spec = read(LbSpec, "lbSpec", request.lb_spec)
        attributes = read(Attributes, "attributes", request.attributes)
        if not request.record_id:
            raise Fail("InvalidArgument", "recordID: is empty")
        wanted = LoadBalancer(
            # That of a repeated call is the same, so that no second load balancer is created.
            token=object_id(request.record_id),
            vpc_id=spec.vpc_id,
            port=spec.port,
            protocol=spec.protocol,
            attributes=write(attributes),
        )
        lb_id = await self._cloud.create(wanted, dry_run=request.dry_run is True)
        return lb_info_of(lb_id, wanted)

    async def ensure_load_balancer(self, request: wh.EnsureLoadBalancerRequest) -> None:
        lb_id = await self._lb_id(request)
        attributes = read(Attributes, "attributes", request.attributes)
        await self._cloud.set_attributes(lb_id, write(attributes), dry_run=request.dry_run is True)

    async def delete_load_balancer(self, request: wh.DeleteLoadBalancerRequest) -> None:
        """FILL-IN 2 of 5: deletes the load balancer. Succeeds if it does not exist."""
        with suppress(NotFound):
            await self._cloud.delete(await self._lb_id(request), dry_run=request.dry_run is True)

    async def validate_backend(self, request: wh.ValidateBackendRequest) -> None:
        _check_word("operation", request.operation, "Create", "Update")
        _check_word("backendType", request.backend_type, "Pod", "Service", "Static")
        read(Parameters, "parameters", request.parameters)

    async def generate_backend_addr(self, request: wh.GenerateBackendAddrRequest) -> str:
        """FILL-IN 3 of 5: returns the address of this backend, always the same one. Registers nothing."""
        target = address.of_backend(request)
        protocol = read(LbInfo, "lbInfo", request.lb_info).protocol
        if target.protocol != protocol:
            raise Fail("InvalidArgument", f"{target} is {target.protocol}, but the load balancer uses {protocol}")
        return str(target)

    async def ensure_backend(self, request: wh.EnsureBackendRequest) -> StringMap:
        """FILL-IN 4 of 5: registers the backend with these parameters, or updates them."""
        lb_id = read(LbInfo, "lbInfo", request.lb_info).lb_id
        address.check(request.backend_addr)
        weight = read(Parameters, "parameters", request.parameters).weight
        backend = Backend(weight=weight, tag=request.record_id)
        await self._cloud.register(lb_id, request.backend_addr, backend, dry_run=request.dry_run is True)
        return {}  # LBCF stores this map and sends it in later calls, as `injected_info`

    async def deregister_backend(self, request: wh.DeregisterBackendRequest) -> None:
        """FILL-IN 5 of 5: deregisters the backend. Succeeds if it is not registered or the load balancer does not
        exist. Do not touch other backends, which users may have registered."""
        if not request.lb_info:
            return
        lb_id, addr = read(LbInfo, "lbInfo", request.lb_info).lb_id, request.backend_addr
        dry_run = request.dry_run is True
        with suppress(NotFound):
            backend = (await self._cloud.backends(lb_id)).get(addr)
            if backend and drain_time_left(request, self._drain) > 0:
                # Without new connections, until those that are open have ended.
                await self._cloud.register(lb_id, addr, backend.model_copy(update={"weight": 0}), dry_run)
                raise NotYet(f"{addr} drains", delay=1)
            await self._cloud.deregister(lb_id, addr, dry_run)

    async def judge_pod_deregister(self, request: wh.JudgePodDeregisterRequest) -> list[wh.Pod]:
        stay = []
        for pod in request.not_ready_pods:
            meta = pod.metadata or wh.ObjectMeta()
            if (meta.annotations or {}).get(KEEP_REGISTERED) == "true":
                stay.append(wh.Pod(metadata=wh.ObjectMeta(name=meta.name, namespace=meta.namespace)))
        return stay

    async def list_backends(self, request: wh.ListBackendsRequest) -> list[wh.ListedBackend]:
        backends = await self._cloud.backends(read(LbInfo, "lbInfo", request.lb_info).lb_id)
        return [
            wh.ListedBackend(backend_addr=addr, parameters={"weight": str(it.weight)}, record_id=it.tag or None)
            for addr, it in backends.items()
        ]

    async def _lb_id(self, request: wh.EnsureLoadBalancerRequest | wh.DeleteLoadBalancerRequest) -> str:
        """Without lbInfo, the response of the creation was lost, or the controller is of the first edition."""
        if request.lb_info:
            return read(LbInfo, "lbInfo", request.lb_info).lb_id
        return await self._cloud.find(object_id(request.record_id))


def _check_word(name: str, word: str, *known: str) -> None:
    if word not in known:
        raise Fail("InvalidArgument", f'{name}: "{word}": not {" or ".join(known)}')
