"""An example of an LBCF driver: all eleven webhooks, for a small cloud that lives in memory.

A load balancer is in a network (lbSpec) and has a bandwidth (attributes); a backend has a weight (parameters). Each
webhook is one function. It compares the request with the cloud, not with earlier calls: so it can be repeated."""
import argparse
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 4 * 1024 * 1024
MAPS = ("lbSpec", "lbInfo", "attributes", "oldAttributes", "lbAttributes", "parameters", "oldParameters",
        "OldParameters", "injectedInfo")
TYPES = {**dict.fromkeys(MAPS, dict), "recordID": str, "retryID": str, "namespace": str, "name": str,
         "backendAddr": str, "operation": str, "backendType": str, "firstRequestedAt": str, "dryRun": bool}
ADDRESS = re.compile(r"(([0-9]{1,3}\.){3}[0-9]{1,3}|\[[0-9a-f:.]+\]|([a-z0-9-]+\.)*[a-z][a-z0-9-]*)"
                     r":(?P<port>[1-9][0-9]{0,4})(/UDP|/SCTP)?")

cloud = {}  # the load balancers: {id: {"attributes": {...}, "backends": {address: {...}}}}
cloud_lock = threading.Lock()
ThreadingHTTPServer.request_queue_size = 128  # with 5, some of many connections at a time wait a second

class Failure(Exception):
    """The call is proper but cannot be done: answered with Fail, a reason and a msg, or with succ false."""

def get(holder, member, kind):
    """A member of a JSON object. null and absence mean empty; a wrong type is a ValueError, and answered with 400."""
    value = holder.get(member) if type(holder) is dict else NotImplemented
    if value is None:
        return kind()
    if type(value) is not kind:  # not isinstance: in Python, true is an int
        raise ValueError(f"{member}: not of the type {kind.__name__}")
    return value

def check_number(request, member, key, low, high):
    """Accepts a map that is empty, or has this key only, with a whole number in the limits."""
    values = get(request, member, dict)
    text = values.get(key) or ""
    if values and not (list(values) == [key] and re.fullmatch("[0-9]{1,5}", text) and low <= int(text) <= high):
        raise Failure("InvalidArgument", f'{member}.{key}: "{text[:50]}": not {low} to {high}, or not the only key')

def check_load_balancer(request):
    spec = get(request, "lbSpec", dict)
    network = get(spec, "network", str)
    if len(spec) != 1 or not re.fullmatch("net-[a-z0-9-]{1,60}", network):
        raise Failure("InvalidArgument", f'lbSpec.network: "{network[:50]}": does not begin with net-, or is not alone')
    check_number(request, "attributes", "bandwidth", 1, 10000)

def check_address(address):
    match = ADDRESS.fullmatch(address)
    if not match or int(match["port"]) > 65535 or len(address) > 300:
        raise Failure("InvalidArgument", f'backendAddr: "{address[:100]}": not like 10.0.0.7:80 or 10.0.0.7:53/UDP')
    return address

def load_balancer_id(request):
    """The id in lbInfo. Where that is empty, it is made from the uid of the object, which is in the recordID."""
    if get(request, "lbInfo", dict):
        return get(request["lbInfo"], "id", str)
    record_id = get(request, "recordID", str)
    uid = record_id.partition("(")[2] or record_id
    # A real cloud chooses the id itself: there, the uid becomes a client token, a name or a tag.
    return "lb-" + hashlib.sha256(uid.encode()).hexdigest()[:20]

def existing_load_balancer(request):
    identity = load_balancer_id(request)
    if identity not in cloud:
        raise Failure("NotFound", f'lbInfo.id: "{identity[:100]}": no such load balancer')
    return cloud[identity]

def validate_load_balancer(request):
    if get(request, "operation", str) not in ("Create", "Update"):
        raise Failure("InvalidArgument", "operation: neither Create nor Update")
    check_load_balancer(request)

def validate_backend(request):
    check_number(request, "parameters", "weight", 0, 100)

def judge_pod_deregister(request):
    pods = get(request, "notReadyPods", list)  # of these, it keeps those that still run, and may only be slow
    running = [pod for pod in pods if get(get(pod, "status", dict), "phase", str) == "Running"]
    return {"doNotDeregister": [{"metadata": get(pod, "metadata", dict)} for pod in running]}

def create_load_balancer(request):
    check_load_balancer(request)
    identity = load_balancer_id(request)
    if not request.get("dryRun"):  # a repeated call may have other attributes
        cloud.setdefault(identity, {"backends": {}})["attributes"] = get(request, "attributes", dict)
    return {"lbInfo": {"id": identity, "address": identity + ".lb.example"}}

def ensure_load_balancer(request):
    check_number(request, "attributes", "bandwidth", 1, 10000)
    load_balancer = existing_load_balancer(request)
    if not request.get("dryRun"):
        load_balancer["attributes"] = get(request, "attributes", dict)

def delete_load_balancer(request):
    if not request.get("dryRun"):
        cloud.pop(load_balancer_id(request), None)

def port_and_protocol(port):
    return get(port, "port", int) or get(port, "portNumber", int), get(port, "protocol", str).upper() or "TCP"

def generate_backend_addr(request):
    pod, service = get(request, "podBackend", dict), get(request, "serviceBackend", dict)
    if pod:  # before the endpoint, which only says more about the pod if both are there
        host = get(get(get(pod, "pod", dict), "status", dict), "podIP", str)
        number, protocol = port_and_protocol(get(pod, "port", dict))
        if not host:
            return {"status": "Running", "msg": "the pod has no IP yet", "minRetryDelayInSeconds": 2}
    elif service:  # its port is the one that clients in the cluster use, and leads to the node port
        nodes = {get(node, "type", str): get(node, "address", str) for node in get(service, "nodeAddresses", list)}
        ports = get(get(get(service, "service", dict), "spec", dict), "ports", list)
        node_ports = {port_and_protocol(port): get(port, "nodePort", int) for port in ports}
        port, protocol = port_and_protocol(get(service, "port", dict))
        host, number = nodes.get("InternalIP", ""), node_ports.get((port, protocol), 0)
    else:
        endpoint = get(request, "endpointBackend", dict)
        host, (number, protocol) = get(endpoint, "address", str), port_and_protocol(endpoint)
    address = f"[{host}]:{number}" if ":" in host else f"{host}:{number}"
    return {"backendAddr": check_address(address if protocol == "TCP" else f"{address}/{protocol}")}

def ensure_backend(request):
    validate_backend(request)
    address = check_address(get(request, "backendAddr", str))
    backends = existing_load_balancer(request)["backends"]
    if not request.get("dryRun"):
        backend = backends.setdefault(address, {"backendAddr": address, "recordID": get(request, "recordID", str)})
        backend["parameters"] = get(request, "parameters", dict)

def deregister_backend(request):
    load_balancer = cloud.get(load_balancer_id(request))
    if load_balancer and not request.get("dryRun"):
        load_balancer["backends"].pop(get(request, "backendAddr", str), None)

def list_backends(request):
    limit, after = get(request, "limit", int), get(request, "continue", str)
    backends = existing_load_balancer(request)["backends"]
    rest = sorted(address for address in backends if address > after)
    page = rest[:limit] if limit > 0 else rest
    # The next page begins behind the last address of this one, whatever comes and goes meanwhile.
    return {"backends": [dict(backends[address]) for address in page],
            "continue": page[-1] if len(page) < len(rest) else ""}

DECISIONS = {"validateLoadBalancer": validate_load_balancer, "validateBackend": validate_backend,
             "judgePodDeregister": judge_pod_deregister}
OPERATIONS = {"createLoadBalancer": create_load_balancer, "ensureLoadBalancer": ensure_load_balancer,
              "deleteLoadBalancer": delete_load_balancer, "generateBackendAddr": generate_backend_addr,
              "ensureBackend": ensure_backend, "deregisterBackend": deregister_backend, "listBackends": list_backends}

def call_webhook(webhook, request):
    for member, kind in TYPES.items():
        value = get(request, member, kind)
        for key in value if kind is dict else ():  # the values of a map are strings
            get(value, key, str)
    if webhook == "healthz":
        return {"healthy": True, "specification": "1", "features": ["pages", "reasons"]}
    try:
        with cloud_lock:  # this cloud is quick: calls wait for each other, none has to be joined
            result = {**DECISIONS, **OPERATIONS}[webhook](request) or {}
        return {"succ": True, **result} if webhook in DECISIONS else {"status": "Succ", **result}
    except Failure as failure:
        reason, msg = failure.args
        return {"succ": False, "msg": msg} if webhook in DECISIONS else {"status": "Fail", "reason": reason, "msg": msg}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open
    wbufsize = -1  # buffered, so that an answer is sent in one piece
    def handle_call(self):
        length = int(self.headers.get("Content-Length", "0"))
        webhook = self.path.removeprefix("/")
        body = self.rfile.read(min(length, 4 * MAX_BODY))  # too much is read too: else the caller sees no answer
        if length > MAX_BODY:
            return self.answer(413, {"error": "the body is too large"})
        if webhook not in ("healthz", *DECISIONS, *OPERATIONS):
            return self.answer(404, {"error": "no such webhook"})
        if self.command != "POST":
            return self.answer(405, {"error": "only POST is allowed"})
        try:  # a body that is not complete, as its caller has gone, is no JSON object either
            request = json.loads(body or ("{}" if webhook == "healthz" else ""))
            self.answer(200, call_webhook(webhook, request))
        except (ValueError, RecursionError) as error:
            self.answer(400, {"error": str(error)})

    do_POST = do_GET = do_PUT = do_PATCH = do_DELETE = handle_call

    def answer(self, status, response):
        body = json.dumps(response).encode()
        self.send_response(status)
        if status != 200:  # perhaps a part of the request is not read yet
            self.send_header("Connection", "close")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, required=True)
    ThreadingHTTPServer(("127.0.0.1", options.parse_args().port), Handler).serve_forever()
