"""The address of a backend: of a pod, of a Service's port on a node, or of an endpoint that is no pod.

It depends on nothing but the request, so a backend has the same address in every call.
"""

import ipaddress
import json
import re
from typing import NamedTuple

from lbcf import Fail, NotYet
from lbcf import webhooks as wh


class Target(NamedTuple):
    """Where a load balancer connects to."""

    ip: str
    port: int
    protocol: str

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


def of_backend(request: wh.GenerateBackendAddrRequest) -> Target:
    """The target of the request's backend."""
    pod, service, endpoint = request.pod_backend, request.service_backend, request.endpoint_backend
    if pod and not service:  # an endpoint beside it is the same pod
        return of_pod(pod)
    if service and not pod:
        return of_service(service)
    if endpoint and not service:
        return _target(endpoint.address, endpoint.port, endpoint.protocol, "endpointBackend")
    raise Fail("InvalidArgument", "one of podBackend, serviceBackend and endpointBackend is needed")


def of_pod(backend: wh.PodBackend) -> Target:
    """The pod's own IP and the port."""
    ip = backend.pod.status and backend.pod.status.pod_ip
    if not ip:
        raise NotYet("the pod has no IP yet")
    return _target(ip, _number(backend.port), backend.port.protocol, "podBackend")


def of_service(backend: wh.ServiceBackend) -> Target:
    """The node's IP, `InternalIP` if it has one, and the node port that belongs to the Service's port."""
    number, protocol = _number(backend.port), backend.port.protocol or "TCP"
    ports = (backend.service.spec and backend.service.spec.ports) or []
    same = (it.node_port for it in ports if it.port == number and (it.protocol or "TCP").upper() == protocol)
    node_port = next(same, None)
    if not node_port:
        raise Fail("InvalidArgument", f"the Service has no node port for {number}/{protocol}")
    by_type = {it.type: it.address for it in reversed(backend.node_addresses or [])}
    ip = by_type.get("InternalIP") or by_type.get("ExternalIP")
    if not ip:
        raise NotYet(f"node {backend.node_name} has no IP yet")
    return _target(ip, node_port, protocol, "serviceBackend")


def check(text: str) -> None:
    """`Fail` unless this is IP:PORT, [IP]:PORT for IPv6, as this file writes it. Another spelling of the same
    address would be another backend."""
    match = re.fullmatch(r"\[([0-9a-fA-F:.]+)\]:([0-9]{1,5})|([0-9.]+):([0-9]{1,5})", text)
    ip, port = (match[1] or match[3], match[2] or match[4]) if match else ("", "0")
    name = f"backendAddr: {json.dumps(text, ensure_ascii=False)}"
    usual = str(_target(ip, int(port), None, name))
    if text != usual:
        raise Fail("InvalidArgument", f"{name}: write it as {usual}")


def _number(port: wh.BackendPort) -> int:
    return port.port or port.port_number or 0


def _target(ip: str | None, port: int | None, protocol: str | None, name: str) -> Target:
    try:
        address = ipaddress.ip_address(ip or "")
    except ValueError:
        address = None
    is_unusable = address is None or address.is_unspecified or address.is_multicast or "%" in str(address)
    if is_unusable or getattr(address, "ipv4_mapped", None) or not 1 <= (port or 0) <= 65535:
        raise Fail("InvalidArgument", f"{name}: not an IP address with a port from 1 to 65535")
    return Target(str(address), port or 0, protocol or "TCP")
