"""An LBCF driver with FastAPI, to be copied: put your cloud's client library in the place of cloud.py.

What makes it right is mostly what it does not do. It remembers nothing between calls: the controller
sends back `lbInfo` and `backendAddr`, and the cloud keeps the rest. It never answers from memory by
`recordID`, since settings change under the same one. It touches no backend but the one it is asked about.
"""

import argparse
import re
import socket
from contextlib import suppress
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

import address
import wire
from body_limit import BodyLimit
from cloud import Cloud, CloudError, NotFound, StringMap
from observer import observer

Answer = dict[str, Any]

KEEP_REGISTERED = "lbcf.example.com/keep-registered"  # a pod's wish to stay although it is not ready

cloud = Cloud()
# A redirect would make a POST a GET, so a path with a slash at its end is an unknown path. Without
# `strict_content_type=False`, a call without a media type would be refused.
app = FastAPI(title="LBCF driver", redirect_slashes=False, strict_content_type=False, openapi_url=None)
app.add_middleware(BodyLimit)
app.include_router(observer(cloud))


# Answers. Only the status 200 is an answer: a refusal is one, and its reason reaches the user as `msg`.


def succ(**fields: Any) -> Answer:
    return {"status": "Succ", "msg": "", **fields}


def fail(msg: str) -> Answer:
    return {"status": "Fail", "msg": msg}


def verdict(problem: str | None) -> Answer:
    return {"succ": problem is None, "msg": problem or ""}


@app.exception_handler(CloudError)
async def refused_by_cloud(_: Request, error: CloudError) -> JSONResponse:
    """What the cloud refuses is a `Fail`, which the controller repeats later."""
    return JSONResponse(fail(str(error)))


# Calls that are none: an answer in JSON, so that people can read what is wrong.


@app.exception_handler(RequestValidationError)
async def not_understood(_: Request, error: RequestValidationError) -> JSONResponse:
    found = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5])
    # Half of a surrogate pair, which JSON can hold, cannot be written as UTF-8.
    text = "; ".join(found).encode(errors="backslashreplace").decode()
    return JSONResponse({"error": text}, status_code=400)


@app.exception_handler(HTTPException)
async def no_such_call(_: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


# What the fields may be. The same rules hold in `validate…` and in the operations themselves: objects can
# reach the controller without having been validated.


def problem_with_load_balancer(spec: StringMap, attributes: StringMap) -> str | None:
    if not spec.get("vpc", "").startswith("vpc-"):
        return f"lbSpec.vpc: {spec.get('vpc')!r}: must name a network, as in 'vpc-1'"
    port = spec.get("port", "80")
    if not is_whole_number(port) or not 1 <= int(port) <= 65535:
        return f"lbSpec.port: {port!r}: not a port from 1 to 65535"
    return problem_with_attributes(attributes)


def problem_with_attributes(attributes: StringMap) -> str | None:
    bandwidth = attributes.get("bandwidth", "1")
    if not is_whole_number(bandwidth) or int(bandwidth) == 0:
        return f"attributes.bandwidth: {bandwidth!r}: not a whole number from 1 to 999999999"
    return None


def problem_with_parameters(parameters: StringMap) -> str | None:
    weight = parameters.get("weight", "100")
    if not is_whole_number(weight) or int(weight) > 100:
        return f"parameters.weight: {weight!r}: not a whole number from 0 to 100"
    return None


def is_whole_number(text: str) -> bool:
    return re.fullmatch("[0-9]{1,9}", text) is not None  # int() would take "+1", " 1" and "1_0", too


# The webhooks. FastAPI runs functions without `async` in threads, so that a cloud that takes its time
# holds up nobody else; `healthz` is `async`, and answered even when all threads are busy.


@app.api_route("/healthz", methods=["GET", "POST"])
async def healthz() -> Answer:
    return {"healthy": True}


@app.post("/validateLoadBalancer")
def validate_load_balancer(call: wire.ValidateLoadBalancer) -> Answer:
    if call.operation not in ("Create", "Update"):
        return verdict(f"operation: {call.operation!r}: not Create or Update")
    old, new = call.oldAttributes.get("charge"), call.attributes.get("charge")
    if call.operation == "Update" and old is not None and new not in (None, old):
        return verdict(f"attributes.charge: cannot be changed from {old!r} to {new!r}")
    return verdict(problem_with_load_balancer(call.lbSpec, call.attributes))


@app.post("/createLoadBalancer")
def create_load_balancer(call: wire.CreateLoadBalancer) -> Answer:
    if not call.recordID:
        return fail("recordID: missing; without it a repeated call would create twice")
    if problem := problem_with_load_balancer(call.lbSpec, call.attributes):
        return fail(problem)
    # The recordID is the client token that clouds ask for: a call that is repeated because its answer
    # was lost finds what the first one made, also when both are under way at once.
    lb_id = cloud.create(call.recordID, call.lbSpec, call.attributes, dry_run=call.dryRun)
    return succ(lbInfo={"lbID": lb_id})


@app.post("/ensureLoadBalancer")
def ensure_load_balancer(call: wire.LoadBalancerOperation) -> Answer:
    lb_id = identity(call.lbInfo)
    if problem := problem_with_attributes(call.attributes):
        return fail(problem)
    cloud.set_attributes(lb_id, call.attributes, dry_run=call.dryRun)
    return succ()


@app.post("/deleteLoadBalancer")
def delete_load_balancer(call: wire.LoadBalancerOperation) -> Answer:
    # An empty lbInfo says that the controller was never told an identity. Where the answer was lost on
    # its way, there is a load balancer all the same, and this is the last chance to free it.
    lb_id = call.lbInfo.get("lbID") or cloud.find_by_token(token_of_creation(call.recordID))
    # What is not there is deleted already: a Fail would be repeated for ever.
    with suppress(NotFound):
        cloud.delete(lb_id or "", dry_run=call.dryRun)
    return succ()


@app.post("/validateBackend")
def validate_backend(call: wire.ValidateBackend) -> Answer:
    if call.operation not in ("Create", "Update"):
        return verdict(f"operation: {call.operation!r}: not Create or Update")
    if call.backendType not in ("Pod", "Service", "Static"):
        return verdict(f"backendType: {call.backendType!r}: not Pod, Service or Static")
    return verdict(problem_with_parameters(call.parameters))


@app.post("/generateBackendAddr")
def generate_backend_addr(call: wire.GenerateBackendAddr) -> Answer:
    match call.podBackend, call.serviceBackend:
        case wire.PodBackend() as backend, None:
            return succ(backendAddr=address.of_pod(backend))
        case None, wire.ServiceBackend() as backend:
            return succ(backendAddr=address.of_service(backend))
    return fail("either podBackend or serviceBackend is needed")


@app.post("/ensureBackend")
def ensure_backend(call: wire.BackendOperation) -> Answer:
    lb_id = identity(call.lbInfo)
    if not call.backendAddr:
        return fail("backendAddr: missing")
    if problem := problem_with_parameters(call.parameters):
        return fail(problem)
    cloud.bind(lb_id, call.backendAddr, call.parameters, dry_run=call.dryRun)
    return succ(injectedInfo={})  # the address finds the backend again: there is nothing to remember


@app.post("/deregisterBackend")
def deregister_backend(call: wire.BackendOperation) -> Answer:
    with suppress(NotFound):  # gone with its load balancer
        cloud.unbind(call.lbInfo.get("lbID", ""), call.backendAddr, dry_run=call.dryRun)
    return succ()


@app.post("/judgePodDeregister")
def judge_pod_deregister(call: wire.JudgePodDeregister) -> Answer:
    pods = [pod.metadata for pod in call.notReadyPods or []]
    stay = [pod for pod in pods if pod.annotations.get(KEEP_REGISTERED) == "true"]
    references = [{"metadata": pod.model_dump(include={"name", "namespace", "uid"})} for pod in stay]
    return {"succ": True, "msg": "", "doNotDeregister": references}


def identity(lb_info: StringMap) -> str:
    """The load balancer that a call is about: the `lbInfo` that `createLoadBalancer` gave."""
    try:
        return lb_info["lbID"]
    except KeyError:
        raise NotFound("lbInfo.lbID: missing; the load balancer has not been created") from None


def token_of_creation(record_id: str) -> str:
    """The recordID with which the object of a deletion was created, where they have their usual form.
    Where they have another, this finds nothing, and nothing is deleted."""
    usual = "deleteLoadBalancer("
    return f"createLoadBalancer({record_id[len(usual) :]}" if record_id.startswith(usual) else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one")
    options = parser.parse_args()

    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.create_server((options.host, options.port), family=family)
    print(f"listening on {options.host}:{listener.getsockname()[1]}", flush=True)
    # Connections are kept open for longer than callers leave them idle, or a call could meet one that is
    # about to be closed. At SIGTERM, calls under way get a second.
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
