"""A template for LBCF drivers with FastAPI: replace cloud.py with your cloud's client library.

It stores nothing between calls: the controller sends `lbInfo` and `backendAddr` with each call, and the
cloud stores the rest. It never returns an earlier result for a `recordID`, because settings change under
the same one. It changes only the backend of the call.
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
from cloud import Backend, Cloud, CloudError, NotFound, StringMap
from observer import observer

Answer = dict[str, Any]

KEEP_REGISTERED = "lbcf.example.com/keep-registered"  # keeps a pod registered although it is not ready

cloud = Cloud()
# A redirect would make a POST a GET, so a path with a slash at its end is an unknown path. Without
# `strict_content_type=False`, a call without a media type would be rejected.
app = FastAPI(title="LBCF driver", redirect_slashes=False, strict_content_type=False, openapi_url=None)
app.add_middleware(BodyLimit)
app.include_router(observer(cloud))


# Responses. Every response has status 200, also a rejection, whose reason reaches the user as `msg`.


def succ(**fields: Any) -> Answer:
    return {"status": "Succ", "msg": "", **fields}


def fail(msg: str) -> Answer:
    return {"status": "Fail", "msg": msg}


def verdict(problem: str | None) -> Answer:
    return {"succ": problem is None, "msg": problem or ""}


@app.exception_handler(CloudError)
async def refused_by_cloud(_: Request, error: CloudError) -> JSONResponse:
    """A rejection by the cloud becomes a `Fail`, which the controller retries later."""
    # After ensureLoadBalancer with this reason the controller creates the load balancer again.
    reason = {"reason": "NotFound"} if isinstance(error, NotFound) else {}
    return JSONResponse({**fail(str(error)), **reason})


# Invalid calls: a JSON response with the reason.


@app.exception_handler(RequestValidationError)
async def not_understood(_: Request, error: RequestValidationError) -> JSONResponse:
    found = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5])
    # Half of a surrogate pair, which JSON can hold, cannot be written as UTF-8.
    text = "; ".join(found).encode(errors="backslashreplace").decode()
    return JSONResponse({"error": text}, status_code=400)


@app.exception_handler(HTTPException)
async def no_such_call(_: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


# The rules of the fields. The same rules apply in `validate…` and in the operations themselves: objects can
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
    return re.fullmatch("[0-9]{1,9}", text) is not None  # int() would accept "+1", " 1" and "1_0", too


# The webhooks. FastAPI runs functions without `async` in threads, so that a slow cloud blocks no other
# call; `healthz` is `async`, and works even if all threads are busy.


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
    # The recordID serves as client token: a call that is repeated because its response
    # was lost finds what the first one created, also if both run concurrently.
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
    # An empty lbInfo means that the controller never received an identity. If the response was lost on
    # its way, the load balancer exists nevertheless, and this is the last chance to delete it.
    lb_id = call.lbInfo.get("lbID") or cloud.find_by_token(token_of_creation(call.recordID))
    # An unknown load balancer is already deleted: after a Fail the controller would retry indefinitely.
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
    if not address.USABLE.fullmatch(call.backendAddr):
        return fail(f"backendAddr: {call.backendAddr!r}: not HOST:PORT/PROTOCOL")
    if problem := problem_with_parameters(call.parameters):
        return fail(problem)
    cloud.bind(lb_id, call.backendAddr, Backend(call.parameters, tag=call.recordID), dry_run=call.dryRun)
    return succ(injectedInfo={})  # the address identifies the backend, so nothing else has to be stored


@app.post("/deregisterBackend")
def deregister_backend(call: wire.BackendOperation) -> Answer:
    with suppress(NotFound):  # deleted with its load balancer
        cloud.unbind(call.lbInfo.get("lbID", ""), call.backendAddr, dry_run=call.dryRun)
    return succ()


@app.post("/judgePodDeregister")
def judge_pod_deregister(call: wire.JudgePodDeregister) -> Answer:
    pods = [pod.metadata for pod in call.notReadyPods or []]
    stay = [pod for pod in pods if pod.annotations.get(KEEP_REGISTERED) == "true"]
    references = [{"metadata": pod.model_dump(include={"name", "namespace", "uid"})} for pod in stay]
    return {"succ": True, "msg": "", "doNotDeregister": references}


@app.post("/listBackends")
def list_backends(call: wire.ListBackends) -> Answer:
    # All of them: the controller compares the list with its records. What was registered by hand has no tag.
    listed = []
    for addr, backend in cloud.backends(identity(call.lbInfo)).items():
        record_id = {"recordID": backend.tag} if backend.tag else {}
        listed.append({"backendAddr": addr, "parameters": backend.parameters, **record_id})
    return succ(backends=listed)


def identity(lb_info: StringMap) -> str:
    """The load balancer of a call: the `lbInfo` that `createLoadBalancer` returned."""
    try:
        return lb_info["lbID"]
    except KeyError:
        raise NotFound("lbInfo.lbID: missing; the load balancer has not been created") from None


def token_of_creation(record_id: str) -> str:
    """The recordID of the creation of the object that is being deleted, if recordIDs have their usual form.
    With another form no load balancer has this token, and nothing is deleted."""
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
    # Longer than the idle timeout of callers, so that no call uses a connection that is being closed. At
    # SIGTERM, running calls have one second to complete.
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
