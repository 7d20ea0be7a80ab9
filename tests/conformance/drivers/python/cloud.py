"""A load balancer cloud in memory: replace it with your cloud's client library.

Like other clouds it raises errors, is independent of Kubernetes, and makes creation idempotent by a client
token. It stores everything that the driver has to find again, so the driver could be restarted at any time
(if this cloud were not in its memory).
"""

import copy
import secrets
import threading
from dataclasses import dataclass, field

MAX_LOAD_BALANCERS = 1000
MAX_BACKENDS = 1000  # of one load balancer

StringMap = dict[str, str]


class CloudError(Exception):
    """The cloud rejects the request; the text is the reason."""


class NotFound(CloudError):
    """The load balancer does not exist."""


@dataclass
class Backend:
    """A backend of a load balancer."""

    parameters: StringMap
    tag: str = ""  # any text of whoever registered it; the cloud does not interpret it


@dataclass
class LoadBalancer:
    """A load balancer in the cloud."""

    id: str
    client_token: str
    spec: StringMap
    attributes: StringMap = field(default_factory=dict)
    backends: dict[str, Backend] = field(default_factory=dict)  # by address

    def changed_to(self, attributes: StringMap) -> StringMap:
        """The new attributes: these, and charging, which cannot be changed once it is set."""
        charge, wanted = self.attributes.get("charge"), attributes.get("charge")
        if charge is not None and wanted not in (None, charge):
            raise CloudError(f"{self.id} is charged {charge!r}; this cannot be changed to {wanted!r}")
        return attributes if charge is None else attributes | {"charge": charge}


class Cloud:
    """Load balancers and their backends. Each method is one call of the cloud's API. The lock makes it
    atomic, because the driver is called for many backends concurrently. With `dry_run`, a call returns
    its result and changes nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._load_balancers: dict[str, LoadBalancer] = {}

    def create(self, client_token: str, spec: StringMap, attributes: StringMap, *, dry_run: bool) -> str:
        """Creates a load balancer and returns its id; the same client token returns the same one."""
        with self._lock:
            lb = self._made_with(client_token)
            if lb is None:
                if len(self._load_balancers) >= MAX_LOAD_BALANCERS:
                    raise CloudError(f"quota: there are {MAX_LOAD_BALANCERS} load balancers already")
                # A random id is never reused, so a reference to a deleted load balancer cannot
                # match another one.
                lb = LoadBalancer(f"lb-{secrets.token_hex(8)}", client_token, spec)
            elif lb.spec != spec:
                raise CloudError(f"{lb.id} was created with the same token from another lbSpec")
            changed = lb.changed_to(attributes)
            if not dry_run:
                lb.attributes = changed
                self._load_balancers[lb.id] = lb
            return lb.id

    def find_by_token(self, client_token: str) -> str | None:
        """The id of the load balancer that was created with this client token."""
        with self._lock:
            lb = self._made_with(client_token)
            return lb and lb.id

    def set_attributes(self, lb_id: str, attributes: StringMap, *, dry_run: bool) -> None:
        """Updates a load balancer's attributes."""
        with self._lock:
            lb = self._get(lb_id)
            changed = lb.changed_to(attributes)
            if not dry_run:
                lb.attributes = changed

    def delete(self, lb_id: str, *, dry_run: bool) -> None:
        """Deletes a load balancer with its backends."""
        with self._lock:
            lb = self._get(lb_id)
            if not dry_run:
                del self._load_balancers[lb.id]

    def bind(self, lb_id: str, addr: str, backend: Backend, *, dry_run: bool) -> None:
        """Registers one backend, or updates its parameters; all others stay unchanged."""
        with self._lock:
            backends = self._get(lb_id).backends
            if addr not in backends and len(backends) >= MAX_BACKENDS:
                raise CloudError(f"quota: {lb_id} has {MAX_BACKENDS} backends already")
            if not dry_run:
                backends[addr] = backend

    def unbind(self, lb_id: str, addr: str, *, dry_run: bool) -> None:
        """Deregisters one backend, if it is registered."""
        with self._lock:
            backends = self._get(lb_id).backends
            if not dry_run:
                backends.pop(addr, None)

    def backends(self, lb_id: str) -> dict[str, Backend]:
        """A copy of a load balancer's backends, by address."""
        with self._lock:
            return copy.deepcopy(self._get(lb_id).backends)

    def load_balancers(self) -> list[LoadBalancer]:
        """A copy of all load balancers."""
        with self._lock:
            return copy.deepcopy(list(self._load_balancers.values()))

    def _get(self, lb_id: str) -> LoadBalancer:
        try:
            return self._load_balancers[lb_id]
        except KeyError:
            raise NotFound(f"there is no load balancer {lb_id!r}") from None

    def _made_with(self, client_token: str) -> LoadBalancer | None:
        made = (lb for lb in self._load_balancers.values() if lb.client_token == client_token)
        return next(made, None)
