"""Tests of the driver with any cloud: load balancers and backends from creation to deletion, repeated calls, and
rejections of invalid values. FILL-IN: your fields and values; keep the rest."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cloud import Cloud
from driver import KEEP_REGISTERED, MyDriver
from lbcf.runtime import Runtime
from lbcf.server import read_request

SPEC = {"lbVpcID": "vpc-1", "lbListenerPort": "80"}
NO_PORTS = ("0", "65536", "+1", "1e3", "0080", "\u0663")
ADDR = "10.0.0.1:80"


class Caller:
    """Calls the driver as a controller does, but without a socket."""

    def __init__(self, file: Path | None = None, drain: float = 0) -> None:
        self.cloud = Cloud(file)
        asyncio.run(self.cloud.connect())
        self._runtime = Runtime(MyDriver(self.cloud, drain))

    def call(self, webhook: str, **members: Any) -> dict[str, Any]:
        body = {"recordID": f"{webhook}(1)", "retryID": "1", "operation": "Create", "backendType": "Pod", **members}
        request = read_request(webhook, json.dumps(body).encode())
        return asyncio.run(self._runtime.call(webhook, request)).model_dump(by_alias=True, exclude_none=True)

    def create(self, **members: Any) -> dict[str, str]:
        response = self.call("createLoadBalancer", **{"lbSpec": SPEC, **members})
        assert response["status"] == "Succ", response
        return dict(response["lbInfo"])

    def weights(self) -> dict[str, int]:
        return {addr: it.weight for lb in self.cloud.load_balancers.values() for addr, it in lb.backends.items()}


@pytest.mark.parametrize(
    ("members", "msg"),
    [
        ({"lbSpec": {}}, "lbSpec.lbVpcID: is missing; lbSpec.lbListenerPort: is missing"),
        ({"lbSpec": SPEC | {"lbVpcID": ""}}, 'lbSpec.lbVpcID: ""'),
        ({"lbSpec": SPEC | {"lbListenerPort": "8o"}}, 'lbSpec.lbListenerPort: "8o": not a number from 1 to 65535'),
        *(({"lbSpec": SPEC | {"lbListenerPort": it}}, "from 1 to 65535") for it in NO_PORTS),
        ({"lbSpec": SPEC | {"lbListenerProtocol": "HTTP"}}, "lbSpec.lbListenerProtocol: \"HTTP\": not 'TCP' or 'UDP'"),
        ({"lbSpec": SPEC | {"lbListnerPort": "80"}}, "lbSpec.lbListnerPort: no such field"),
        ({"attributes": {"max-bandwidth-out": "much"}}, 'attributes.max-bandwidth-out: "much"'),
        ({"attributes": {"chargeType": "FREE"}}, 'attributes.chargeType: "FREE"'),
        ({"operation": "Delete"}, 'operation: "Delete": not Create or Update'),
    ],
)
def test_a_load_balancer_is_rejected_with_field_and_value(members: dict[str, Any], msg: str) -> None:
    driver = Caller()
    response = driver.call("validateLoadBalancer", **{"lbSpec": SPEC, **members})
    assert not response["succ"]
    assert msg in response["msg"]
    if "operation" not in members:
        failed = driver.call("createLoadBalancer", **{"lbSpec": SPEC, **members})
        assert failed == {"status": "Fail", "reason": "InvalidArgument", "msg": response["msg"]}
    assert not driver.cloud.load_balancers


@pytest.mark.parametrize("parameters", [{"weight": "256"}, {"weight": "-1"}, {"weight": "1.0"}, {"wieght": "1"}])
def test_parameters_are_rejected_with_field_and_value(parameters: dict[str, str]) -> None:
    response = Caller().call("validateBackend", parameters=parameters)
    assert not response["succ"]
    assert next(iter(parameters)) in response["msg"]


def test_a_load_balancer_is_created_once_changed_and_deleted() -> None:
    driver = Caller()
    lb_info = driver.create(attributes={"max-bandwidth-out": "10", "note": "mine"})
    assert lb_info == driver.create(attributes={"max-bandwidth-out": "10", "note": "mine"})
    assert lb_info != driver.create(recordID="createLoadBalancer(2)")
    assert lb_info["address"] == "127.0.0.1:80"

    assert driver.call("ensureLoadBalancer", lbInfo=lb_info, attributes={"max-bandwidth-out": "20"})["status"] == "Succ"
    attributes = driver.cloud.load_balancers[lb_info["lbID"]].attributes
    assert attributes == {"max-bandwidth-out": "20", "chargeType": "TRAFFIC_POSTPAID_BY_HOUR"}

    # Without lbInfo, the object's uid finds what its creation has begun.
    assert driver.call("deleteLoadBalancer", lbInfo=None)["status"] == "Succ"
    assert [it.token for it in driver.cloud.load_balancers.values()] == ["2"]
    changed = driver.call("ensureLoadBalancer", lbInfo=lb_info, attributes={})
    assert (changed["status"], changed["reason"]) == ("Fail", "NotFound")
    assert driver.call("deleteLoadBalancer", lbInfo=lb_info)["status"] == "Succ"


def test_backends_are_registered_changed_listed_and_deregistered() -> None:
    driver = Caller()
    lb_info = driver.create()
    for number in (1, 2):
        members = {"lbInfo": lb_info, "backendAddr": f"10.0.0.{number}:80", "recordID": f"ensureBackend({number})"}
        assert driver.call("ensureBackend", **members, parameters={"weight": "50"})["status"] == "Succ"
        assert driver.call("ensureBackend", **members, parameters=None)["status"] == "Succ"
    assert driver.weights() == {"10.0.0.1:80": 10, "10.0.0.2:80": 10}

    dry_run = driver.call("deregisterBackend", lbInfo=lb_info, backendAddr=ADDR, dryRun=True)
    assert dry_run == driver.call("deregisterBackend", lbInfo=lb_info, backendAddr=ADDR)
    listed = driver.call("listBackends", lbInfo=lb_info)["backends"]
    assert listed == [{"backendAddr": "10.0.0.2:80", "parameters": {"weight": "10"}, "recordID": "ensureBackend(2)"}]

    unusable = ("not an address", "10.0.0.1", "10.0.0.1:080", "10.0.0.256:1", "[::1%lo]:1", "[0::1]:1", "1.1.1.1:0")
    for addr in unusable:
        assert driver.call("ensureBackend", lbInfo=lb_info, backendAddr=addr)["reason"] == "InvalidArgument", addr
        assert driver.call("deregisterBackend", lbInfo=lb_info, backendAddr=addr)["status"] == "Succ"
    assert driver.call("ensureBackend", lbInfo={"lbID": "lb-0"}, backendAddr=ADDR)["reason"] == "NotFound"
    assert driver.call("deregisterBackend", lbInfo={"lbID": "lb-0"}, backendAddr=ADDR)["status"] == "Succ"


def test_addresses_of_backends() -> None:
    driver = Caller()

    def generate(**members: Any) -> dict[str, Any]:
        return driver.call("generateBackendAddr", lbInfo={"lbID": "lb-1", "protocol": "TCP"}, **members)

    def pod(ip: str | None, **port: Any) -> dict[str, Any]:
        return {"podBackend": {"pod": {"status": {"podIP": ip}}, "port": port}}

    assert generate(**pod("10.0.0.1", port=80, protocol="tcp"))["backendAddr"] == "10.0.0.1:80"
    assert generate(**pod("FD00::01", port=0, portNumber=80))["backendAddr"] == "[fd00::1]:80"
    assert generate(**pod(None, port=80))["status"] == "Running"
    assert "UDP" in generate(**pod("10.0.0.1", port=53, protocol="UDP"))["msg"]

    ports = [{"port": 80, "protocol": "UDP", "nodePort": 1}, {"port": 80, "nodePort": 30080}]
    nodes = [{"type": "ExternalIP", "address": "1.1.1.1"}, {"type": "InternalIP", "address": "10.1.0.1"}]
    service = {"service": {"spec": {"ports": ports}}, "port": {"port": 80}, "nodeAddresses": nodes}
    assert generate(serviceBackend=service)["backendAddr"] == "10.1.0.1:30080"
    assert generate(serviceBackend=service | {"port": {"port": 81}})["status"] == "Fail"
    assert generate(serviceBackend=service | {"nodeAddresses": None})["status"] == "Running"

    endpoint = {"address": "10.2.0.1", "port": 80, "service": {"port": {"port": 80, "protocol": "tcp"}}}
    assert generate(endpointBackend=endpoint)["backendAddr"] == "10.2.0.1:80"
    assert generate(**pod("10.2.0.1", port=80), endpointBackend=endpoint)["backendAddr"] == "10.2.0.1:80"
    assert generate(endpointBackend={"address": "example.com", "port": 80})["status"] == "Fail"
    assert generate()["status"] == "Fail"


def test_a_backend_drains_first_and_registering_it_cancels_that() -> None:
    driver = Caller(drain=60)
    backend = {"lbInfo": driver.create(), "backendAddr": ADDR}
    for requested, status, weights in (
        (timedelta(seconds=10), "Running", {ADDR: 0}),
        (timedelta(seconds=70), "Succ", {}),
        (None, "Succ", {}),
    ):
        driver.call("ensureBackend", **backend)
        assert driver.weights() == {ADDR: 10}
        first = requested and (datetime.now(UTC) - requested).isoformat()
        assert driver.call("deregisterBackend", **backend, firstRequestedAt=first)["status"] == status
        assert driver.weights() == weights


def test_pods_with_the_annotation_stay_registered() -> None:
    pods = [{"metadata": {"name": value, "annotations": {KEEP_REGISTERED: value}}} for value in ("true", "false")]
    response = Caller().call("judgePodDeregister", notReadyPods=[*pods, {}])
    assert response["doNotDeregister"] == [{"metadata": {"name": "true"}}]
    assert Caller().call("judgePodDeregister", notReadyPods=None) == {"succ": True, "msg": "", "doNotDeregister": []}


def test_the_file_survives_and_what_cannot_be_stored_fails(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "cloud.json"
    file.parent.mkdir()
    driver = Caller(file)
    driver.create()
    assert Caller(file).cloud.load_balancers == driver.cloud.load_balancers

    shutil.rmtree(file.parent)
    assert driver.call("createLoadBalancer", recordID="createLoadBalancer(2)", lbSpec=SPEC)["status"] == "Fail"
    assert len(driver.cloud.load_balancers) == 1


def test_the_conformance_kit_passes(tmp_path: Path) -> None:
    lbcf = os.environ.get("LBCF") or shutil.which("lbcf")
    if not lbcf:
        pytest.skip("the conformance kit: there is no lbcf on the PATH and none in $LBCF")
    driver = f"exec '{sys.executable}' main.py --listen 127.0.0.1:{{port}} --observe"
    command = [lbcf, "conformance", "run", "--quiet", "--exec", f"{driver} --cloud-file '{tmp_path}'/cloud-$PPID.json"]
    subprocess.run(command, cwd=Path(__file__).parent, check=True)
