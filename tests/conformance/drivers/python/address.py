"""The address of a backend in the load balancer.

It depends only on the request, so the same backend always has the same address, and two backends never
share one.
"""

import re

from cloud import CloudError
from wire import NodeAddress, PodBackend, Port, Service, ServiceBackend

USABLE = re.compile(r"\S+:\d{1,5}(/[A-Z]+)?")  # what the cloud can use: users may write any text as a static address
PREFERENCE = ("InternalIP", "ExternalIP")  # the types of node addresses, in order of preference


class NoAddress(CloudError):
    """The backend has no address (yet); the message names what is missing."""


def of_pod(backend: PodBackend) -> str:
    """The pod's own IP and port."""
    status = backend.pod.status
    if status is None or not status.podIP:
        raise NoAddress(f"pod {backend.pod.metadata.name} has no IP yet")
    return _address(status.podIP, _number(backend.port), _protocol(backend.port.protocol))


def of_service(backend: ServiceBackend) -> str:
    """The node's IP and the node port of the service's port."""
    protocol = _protocol(backend.port.protocol)
    node_port = _node_port(backend.service, _number(backend.port), protocol)
    addresses = backend.nodeAddresses or backend.nodeAddress or []
    return _address(_preferred(addresses, backend.nodeName), node_port, protocol)


def _address(ip: str, port: int, protocol: str) -> str:
    host = f"[{ip}]" if ":" in ip else ip
    return f"{host}:{port}/{protocol}"


def _number(port: Port) -> int:
    number = port.port or port.portNumber or 0
    if not 1 <= number <= 65535:
        raise NoAddress(f"port {number}: not a port from 1 to 65535")
    return number


def _protocol(name: str | None) -> str:
    protocol = (name or "TCP").upper()
    if protocol not in ("TCP", "UDP", "SCTP"):
        raise NoAddress(f"protocol {name!r}: not TCP, UDP or SCTP")
    return protocol


def _node_port(service: Service, number: int, protocol: str) -> int:
    for port in (service.spec and service.spec.ports) or []:
        if port.port == number and (port.protocol or "TCP").upper() == protocol and port.nodePort:
            return port.nodePort
    raise NoAddress(f"service {service.metadata.name} has no node port for {number}/{protocol}")


def _preferred(addresses: list[NodeAddress], node: str) -> str:
    def rank(address: NodeAddress) -> int:
        return PREFERENCE.index(address.type) if address.type in PREFERENCE else len(PREFERENCE)

    usable = [address for address in addresses if address.address]
    if not usable:
        raise NoAddress(f"node {node} has no address")
    return min(usable, key=rank).address
