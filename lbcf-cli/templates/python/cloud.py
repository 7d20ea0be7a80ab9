"""The client of the load balancer's API.

FILL-IN: a client of that API, in place of this one, which keeps load balancers in memory, and with `--cloud-file` in
a file that survives the process. The driver needs only the functions of `Cloud`, and errors: `NotFound`, and `Fail`
with a reason. Do not block the event loop: call a client that has no `async` functions by `asyncio.to_thread`.
"""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from lbcf import Fail, NotFound, StringMap, describe
from proxy import Proxy

MAX_LOAD_BALANCERS = 1000


class Backend(BaseModel, frozen=True):
    """A registered backend. The tag is a text of whoever registered it."""

    weight: int
    tag: str = ""


class LoadBalancer(BaseModel, frozen=True):
    """A load balancer. The token is that of its creation."""

    token: str
    vpc_id: str
    port: int
    protocol: str
    attributes: StringMap = {}
    backends: dict[str, Backend] = {}  # by address


CHANGEABLE = {"attributes", "backends"}
LoadBalancers = dict[str, LoadBalancer]  # by ID
STORED = TypeAdapter(LoadBalancers)


class Cloud:
    """A client of the cloud. With `dry_run` a function checks all that it can, and changes nothing."""

    def __init__(self, file: Path | None = None, proxy: Proxy | None = None) -> None:
        self.load_balancers: LoadBalancers = {}
        self.has_outage = False
        self._file = file
        self._proxy = proxy
        self._lock = asyncio.Lock()

    async def connect(self) -> None:
        """Reads the file and starts the proxy, or raises `Fail`."""
        if self._file and self._file.exists():
            try:
                self.load_balancers = STORED.validate_json(self._file.read_bytes())
            except ValidationError as error:
                raise Fail("Internal", f"--cloud-file {self._file}: {describe(error)}") from None
            except OSError as error:
                raise Fail("Internal", f"--cloud-file {self._file}: {error.strerror}") from None
        await self._replace(self.load_balancers)

    async def close(self) -> None:
        """Ends the proxy."""
        if self._proxy:
            await self._proxy.close()

    async def find(self, token: str) -> str:
        """The ID of the load balancer that was created with this token."""
        async with self._transaction(dry_run=True) as all_by_id:
            for lb_id, load_balancer in all_by_id.items():
                if load_balancer.token == token:
                    return lb_id
        raise NotFound("the load balancer has not been created")

    async def create(self, wanted: LoadBalancer, dry_run: bool) -> str:
        """Creates a load balancer and returns its ID. The same token leads to the same load balancer, which gets
        the new attributes."""
        async with self._transaction(dry_run) as all_by_id:
            lb_id = next((lb_id for lb_id, it in all_by_id.items() if it.token == wanted.token), None)
            if lb_id is None:
                if len(all_by_id) >= MAX_LOAD_BALANCERS:
                    raise Fail("QuotaExceeded", f"there are {MAX_LOAD_BALANCERS} load balancers already")
                # A random ID is never used again, so a deleted load balancer is not mistaken for a new one.
                lb_id = f"lb-{secrets.token_hex(6)}"
                all_by_id[lb_id] = wanted
            existing = all_by_id[lb_id]
            if existing.model_dump(exclude=CHANGEABLE) != wanted.model_dump(exclude=CHANGEABLE):
                raise Fail("Conflict", f"{lb_id} was created with the same token from another lbSpec")
            all_by_id[lb_id] = existing.model_copy(update={"attributes": wanted.attributes})
        return lb_id

    async def set_attributes(self, lb_id: str, attributes: StringMap, dry_run: bool) -> None:
        """Sets the attributes of a load balancer, in place of all that it has."""
        async with self._transaction(dry_run) as all_by_id:
            all_by_id[lb_id] = _get(all_by_id, lb_id).model_copy(update={"attributes": attributes})

    async def delete(self, lb_id: str, dry_run: bool) -> None:
        """Deletes a load balancer with all its backends."""
        async with self._transaction(dry_run) as all_by_id:
            _get(all_by_id, lb_id)
            del all_by_id[lb_id]

    async def backends(self, lb_id: str) -> dict[str, Backend]:
        """The backends of a load balancer by address."""
        async with self._transaction(dry_run=True) as all_by_id:
            return _get(all_by_id, lb_id).backends

    async def register(self, lb_id: str, addr: str, backend: Backend, dry_run: bool) -> None:
        """Registers a backend, or replaces what is registered at this address."""
        async with self._transaction(dry_run) as all_by_id:
            load_balancer = _get(all_by_id, lb_id)
            backends = {**load_balancer.backends, addr: backend}
            all_by_id[lb_id] = load_balancer.model_copy(update={"backends": backends})

    async def deregister(self, lb_id: str, addr: str, dry_run: bool) -> None:
        """Deregisters a backend, if it is registered."""
        async with self._transaction(dry_run) as all_by_id:
            load_balancer = _get(all_by_id, lb_id)
            backends = {at: it for at, it in load_balancer.backends.items() if at != addr}
            all_by_id[lb_id] = load_balancer.model_copy(update={"backends": backends})

    @asynccontextmanager
    async def _transaction(self, dry_run: bool) -> AsyncIterator[LoadBalancers]:
        """All load balancers, to read and change. If anything fails, nothing has changed."""
        async with self._lock:
            if self.has_outage:
                raise Fail("Unavailable", "the load balancer's API does not respond")
            changed = dict(self.load_balancers)
            yield changed
            if not dry_run and changed != self.load_balancers:
                await self._replace(changed)

    async def _replace(self, changed: LoadBalancers) -> None:
        """Forwards connections, and replaces the file as a whole: a process that ends here leaves the old one or
        the new one."""
        if self._proxy:
            await self._forward(self._proxy, changed)
        if self._file:
            new = self._file.with_name(f"{self._file.name}.new")
            try:
                new.write_bytes(STORED.dump_json(changed))
                os.replace(new, self._file)
            except OSError as error:
                raise Fail("Internal", f"--cloud-file {self._file}: {error.strerror}") from error
        self.load_balancers = changed

    async def _forward(self, proxy: Proxy, changed: LoadBalancers) -> None:
        listeners: dict[int, dict[str, int]] = {}
        for load_balancer in changed.values():
            if load_balancer.protocol == "TCP":
                if load_balancer.port in listeners:
                    raise Fail("Conflict", f"port {load_balancer.port} is used by another load balancer")
                listeners[load_balancer.port] = {addr: it.weight for addr, it in load_balancer.backends.items()}
        try:
            await proxy.update(listeners)
        except OSError as error:
            raise Fail("Conflict", f"--forward: {str(error) or type(error).__name__}") from error


def _get(all_by_id: LoadBalancers, lb_id: str) -> LoadBalancer:
    if lb_id not in all_by_id:
        raise NotFound(f"load balancer {lb_id!r} not found")
    return all_by_id[lb_id]
