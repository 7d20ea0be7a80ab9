"""Processes of `lbcf` and of drivers, and a client of their APIs."""
import json
import subprocess
import time
import urllib.error
import urllib.request

DEADLINE = 120  # seconds: the machine may be busy
GROUP = "/apis/lbcf.tkestack.io/v1beta1"
NAMESPACE = "shop"


class Process:
    """A child process, with its output in the folder."""

    def __init__(self, folder, name, *command):
        self.name = name
        self.log = open(folder / f"{name}.log", "a")
        self.child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=self.log, text=True)

    def url(self):
        """The line that a server prints when it listens."""
        line = self.child.stdout.readline().strip()
        if not line:
            raise SystemExit(f"{self.name} did not start: see {self.log.name}")
        return line

    def end(self, at_once=False):
        self.child.kill() if at_once else self.child.terminate()
        self.child.wait(DEADLINE)


def request(url, method="GET", body=None, patch=False):
    """The JSON of an answer; None where there is nothing to get."""
    media = "application/merge-patch+json" if patch else "application/json"
    data = None if body is None else json.dumps(body).encode()
    call = urllib.request.Request(url, data, {"Content-Type": media}, method=method)
    try:
        with urllib.request.urlopen(call, timeout=DEADLINE) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404 and method == "GET":
            return None
        raise SystemExit(f"{method} {url}: {error.code}: {error.read().decode()}") from error


def until(what, is_true):
    """Waits for a condition, and returns it."""
    ends = time.monotonic() + DEADLINE
    while time.monotonic() < ends:
        result = is_true()
        if result:
            return result
        time.sleep(0.05)
    raise SystemExit(f"not within {DEADLINE} s: {what}")


class Cluster:
    """A local-cluster as a process of its own."""

    def __init__(self, lbcf, folder, *flags):
        self.kubeconfig = folder / "kubeconfig"
        self.process = Process(folder, "cluster", lbcf, "local-cluster", "--listen", "127.0.0.1:0", "--with-crds",
                               "--kubeconfig", self.kubeconfig, *flags)
        self.address = self.process.url()
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        request(f"{self.address}/api/v1/namespaces", "POST", namespace)

    def path(self, kind, namespace=NAMESPACE):
        prefix = {"deployments": "/apis/apps/v1", "pods": "/api/v1", "services": "/api/v1"}.get(kind, GROUP)
        return f"{self.address}{prefix}/namespaces/{namespace}/{kind}"

    def create(self, kind, name, namespace=NAMESPACE, **members):
        versions = {"deployments": ("apps/v1", "Deployment"), "pods": ("v1", "Pod"), "services": ("v1", "Service"),
                    "loadbalancers": (None, "LoadBalancer"), "backendgroups": (None, "BackendGroup"),
                    "loadbalancerdrivers": (None, "LoadBalancerDriver")}
        version, title = versions[kind]
        metadata = {"name": name, "namespace": namespace, **members.pop("metadata", {})}
        request(self.path(kind, namespace), "POST",
                {"apiVersion": version or "lbcf.tkestack.io/v1beta1", "kind": title, "metadata": metadata, **members})

    def get(self, kind, name):
        return request(f"{self.path(kind)}/{name}")

    def items(self, kind):
        return request(self.path(kind))["items"]

    def patch(self, kind, name, body, suffix=""):
        request(f"{self.path(kind)}/{name}{suffix}", "PATCH", body, patch=True)

    def delete(self, kind, name):
        request(f"{self.path(kind)}/{name}", "DELETE")

    def has_condition(self, kind, name, condition, status="True"):
        conditions = ((self.get(kind, name) or {}).get("status") or {}).get("conditions") or []
        return any(it["type"] == condition and it["status"] == status for it in conditions)


def start_controller(lbcf, folder, cluster, name):
    return Process(folder, f"controller-{name}", lbcf, "controller", "--kubeconfig", cluster.kubeconfig,
                   "--health-address", "127.0.0.1:0", "--audit-period", "10s")
