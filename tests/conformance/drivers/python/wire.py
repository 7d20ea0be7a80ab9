"""Requests and responses. The fields have their names in JSON.

Strict where a wrong type would be a mistake (`"5"` is no number), lenient where controllers differ:
unknown fields are ignored, and `null` is an empty map, as controllers in Go write it.
"""

import json
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field


def _empty_for_null(value: Any) -> Any:
    return {} if value is None else value


def _object_or_json(value: Any) -> Any:
    """The specification shows pods and services as strings with JSON; controllers send objects."""
    return json.loads(value) if isinstance(value, str) else value


def _writable(text: str) -> str:
    """JSON can contain half of a surrogate pair, which no response could repeat."""
    text.encode()  # its error is a ValueError
    return text


Text = Annotated[str, AfterValidator(_writable)]
Map = Annotated[dict[Text, Text], BeforeValidator(_empty_for_null)]


class Wire(BaseModel):
    """The base of all messages."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Metadata(Wire):
    """A Kubernetes object's identity."""

    name: Text = ""
    namespace: Text = ""
    uid: Text = ""
    annotations: Map = {}


class PodStatus(Wire):
    """The required fields of a pod's status."""

    podIP: Text | None = None


class Pod(Wire):
    """The required fields of a pod."""

    metadata: Metadata = Metadata()
    status: PodStatus | None = None


class ServicePort(Wire):
    """A port of a service, and the port that all nodes have for it."""

    port: int
    protocol: Text | None = None
    nodePort: int | None = None


class ServiceSpec(Wire):
    """The required fields of a service's spec."""

    ports: list[ServicePort] | None = None


class Service(Wire):
    """The required fields of a service."""

    metadata: Metadata = Metadata()
    spec: ServiceSpec | None = None


class Port(Wire):
    """The port of a backend: `portNumber` is the older name of the number."""

    port: int | None = None
    portNumber: int | None = None
    protocol: Text | None = None


class PodBackend(Wire):
    """A pod as a backend."""

    pod: Annotated[Pod, BeforeValidator(_object_or_json)]
    port: Port


class NodeAddress(Wire):
    """One of a node's addresses; the type is `InternalIP`, `ExternalIP` or a name."""

    type: Text = ""
    address: Text = ""


class ServiceBackend(Wire):
    """A service on one node as a backend."""

    service: Annotated[Service, BeforeValidator(_object_or_json)]
    port: Port
    nodeName: Text = ""
    nodeAddresses: list[NodeAddress] | None = None
    nodeAddress: list[NodeAddress] | None = None  # the name in a sample of the specification


class Validation(Wire):
    """A validation of a change to an object; it is not repeated."""

    operation: Text = ""
    dryRun: bool = False


class ValidateLoadBalancer(Validation):
    lbSpec: Map = {}
    attributes: Map = {}
    oldAttributes: Map = {}


class ValidateBackend(Validation):
    backendType: Text = ""
    lbInfo: Map = {}  # empty as long as the load balancer has not been created
    parameters: Map = {}
    # Deployed controllers write a capital O, the specification a small one.
    oldParameters: Map = Field({}, validation_alias=AliasChoices("OldParameters", "oldParameters"))


class Operation(Wire):
    """An operation, repeated until it succeeds. The `recordID` is any text, equal in all calls for
    one operation on one object; the `retryID` is different in each call."""

    recordID: Text = ""
    retryID: Text = ""
    dryRun: bool = False


class CreateLoadBalancer(Operation):
    lbSpec: Map = {}
    attributes: Map = {}


class LoadBalancerOperation(Operation):
    """`ensureLoadBalancer` and `deleteLoadBalancer`."""

    lbInfo: Map = {}
    attributes: Map = {}


class GenerateBackendAddr(Operation):
    """Without `parameters`: controllers omit them, so no address may depend on them."""

    podBackend: PodBackend | None = None
    serviceBackend: ServiceBackend | None = None


class BackendOperation(Operation):
    """`ensureBackend` and `deregisterBackend`."""

    lbInfo: Map = {}
    backendAddr: Text = ""
    parameters: Map = {}
    injectedInfo: Map = {}


class ListBackends(Operation):
    lbInfo: Map = {}


class JudgePodDeregister(Wire):
    notReadyPods: list[Pod] | None = None
    dryRun: bool = False
