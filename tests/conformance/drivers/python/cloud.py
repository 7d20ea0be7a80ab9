"""A load balancer cloud in memory: the place of your cloud's client library.

It behaves as clouds do: it refuses by errors, it knows nothing of Kubernetes, and it makes creation
repeatable by a client token. Everything that the driver has to find again is kept here, so the driver
may be restarted at any time (were this cloud not in the driver's own memory).
"""

import copy
import secrets
import threading
from dataclasses import dataclass, field

MAX_LOAD_BALANCERS = 1000
MAX_BACKENDS = 1000  # of one load balancer

StringMap = dict[str, str]


class CloudError(Exception):
    """The cloud refuses; the text says why, for people."""


class NotFound(CloudError):
    """There is no such load balancer."""


@dataclass
class LoadBalancer:
    """A load balancer as the cloud has it."""

    id: str
    client_token: str
    spec: StringMap
    attributes: StringMap = field(default_factory=dict)
    backends: dict[str, StringMap] = field(default_factory=dict)  # parameters by address

    def changed_to(self, attributes: StringMap) -> StringMap:
        """The attributes that a change leads to: these, and how the load balancer is charged, which is
        fixed once it is set."""
        charge, wanted = self.attributes.get("charge"), attributes.get("charge")
        if charge is not None and wanted not in (None, charge):
            raise CloudError(f"{self.id} is charged {charge!r}; this cannot be changed to {wanted!r}")
        return attributes if charge is None else attributes | {"charge": charge}


class Cloud:
    """Load balancers and their backends. Each method is one call of the cloud's interface, and the
    lock makes it one step, as clouds do: the driver is called for many backends at once. With
    `dry_run`, a call says what it would say, and changes nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._load_balancers: dict[str, LoadBalancer] = {}

    def create(self, client_token: str, spec: StringMap, attributes: StringMap, *, dry_run: bool) -> str:
        """Creates a load balancer and gives its id; the same client token gives the same one."""
        with self._lock:
            lb = self._made_with(client_token)
            if lb is None:
                if len(self._load_balancers) >= MAX_LOAD_BALANCERS:
                    raise CloudError(f"quota: there are {MAX_LOAD_BALANCERS} load balancers already")
                # A random id is never used again, so what still names a deleted load balancer cannot
                # hit another one.
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
        """Brings a load balancer to these attributes."""
        with self._lock:
            lb = self._get(lb_id)
            changed = lb.changed_to(attributes)
            if not dry_run:
                lb.attributes = changed

    def delete(self, lb_id: str, *, dry_run: bool) -> None:
        """Deletes a load balancer with whatever is bound to it."""
        with self._lock:
            lb = self._get(lb_id)
            if not dry_run:
                del self._load_balancers[lb.id]

    def bind(self, lb_id: str, addr: str, parameters: StringMap, *, dry_run: bool) -> None:
        """Adds one backend, or brings it to these parameters; all others stay as they are."""
        with self._lock:
            backends = self._get(lb_id).backends
            if addr not in backends and len(backends) >= MAX_BACKENDS:
                raise CloudError(f"quota: {lb_id} has {MAX_BACKENDS} backends already")
            if not dry_run:
                backends[addr] = parameters

    def unbind(self, lb_id: str, addr: str, *, dry_run: bool) -> None:
        """Takes one backend away, if it is there."""
        with self._lock:
            backends = self._get(lb_id).backends
            if not dry_run:
                backends.pop(addr, None)

    def load_balancers(self) -> list[LoadBalancer]:
        """All there is, as a copy."""
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
