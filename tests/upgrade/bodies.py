"""What a controller sends to a driver that knows nothing of version 1: recorded with the controller before and now, of the same
steps. What is sent now is what was sent before, and `namespace` and `name`. Only the recordID of generateBackendAddr is another one, as it
is asked before there is an object with a uid."""
import json
import re
import sys
import pathlib

from processes import NAMESPACE, Cluster, Process, start_controller, until

HERE = pathlib.Path(__file__).parent
WEIGHTS = [{"weight": "50"}, {"weight": "80"}]


class Scene:
    def __init__(self, lbcf_of_cluster, lbcf, folder):
        self.recording = folder / "bodies.jsonl"
        self.driver = Process(folder, "driver", sys.executable, HERE / "driver.py", self.recording)
        self.cluster = Cluster(lbcf_of_cluster, folder)
        webhooks = ["judgePodDeregister", "listBackends"]
        self.cluster.create("loadbalancerdrivers", "lbcf-old", "kube-system", spec={
            "driverType": "Webhook", "url": self.driver.url(), "webhooks": [{"name": name, "timeout": "10s"} for name in webhooks]})
        self.controller = start_controller(lbcf, folder, self.cluster, "recorded")

    def bodies(self):
        return read(self.recording) if self.recording.exists() else []

    def end(self):
        for process in (self.controller, self.driver, self.cluster.process):
            process.end()

    def until_registered(self, counts):
        def is_registered():
            return all((self.cluster.get("backendgroups", name).get("status") or {}).get("registeredBackends", 0) == count
                       for name, count in counts.items())
        until(f"the backends {counts} are registered", is_registered)

    def until_called(self, webhook, count, is_wanted=lambda body: True):
        def is_called():
            return len([it for it in self.bodies() if it["webhook"] == webhook and is_wanted(it["body"])]) >= count
        until(f"{webhook} is called {count} times", is_called)


def read(recording):
    return [json.loads(line) for line in recording.read_text().splitlines()]


def play(scene):
    cluster = scene.cluster
    for name in ("lb", "other"):
        cluster.create("loadbalancers", name, spec={
            "lbDriver": "lbcf-old", "lbSpec": {"network": f"net-{name}"}, "attributes": {"bandwidth": "100"}})
        until("the load balancer is created", lambda: cluster.has_condition("loadbalancers", name, "Created"))
    for number in range(3):
        container = {"name": "web", "image": "web", "ports": [{"containerPort": 80}]}
        cluster.create("pods", f"web-{number}", metadata={"labels": {"app": "web"}}, spec={"containers": [container]})
        until("the pod is ready", lambda: cluster.has_condition("pods", f"web-{number}", "Ready"))
    port = {"name": "http", "port": 80, "protocol": "TCP"}
    cluster.create("services", "web", spec={"type": "NodePort", "selector": {"app": "web"},
                                            "ports": [{**port, "targetPort": 80, "nodePort": 30080}]})
    group = {"loadBalancers": ["lb"], "parameters": WEIGHTS[0]}
    by_port = {"port": 80, "protocol": "TCP"}
    cluster.create("backendgroups", "pods", spec={
        **group, "pods": {"ports": [by_port], "byLabel": {"selector": {"app": "web"}}}, "deregisterPolicy": "Webhook",
        "deregisterWebhook": {"driverName": "lbcf-old", "failurePolicy": "DoNothing"}})
    cluster.create("backendgroups", "nodes", spec={**group, "service": {"name": "web", "port": by_port}})
    cluster.create("backendgroups", "endpoints", spec={
        **group, "loadBalancers": ["other"], "service": {"name": "web", "mode": "Endpoints", "port": {"name": "http"}}})
    cluster.create("backendgroups", "static", spec={**group, "static": ["1.1.1.1:8080", "web.example:8080"]})
    scene.until_registered({"pods": 3, "nodes": 1, "endpoints": 3, "static": 2})
    cluster.patch("loadbalancers", "lb", {"spec": {"attributes": {"bandwidth": "200"}}})
    scene.until_called("ensureLoadBalancer", 1, lambda body: body["attributes"] == {"bandwidth": "200"})
    cluster.patch("backendgroups", "pods", {"spec": {"parameters": WEIGHTS[1]}})
    scene.until_called("ensureBackend", 3, lambda body: body["parameters"] == WEIGHTS[1])
    conditions = [{"type": "Ready", "status": "False"}]
    cluster.patch("pods", "web-2", {"status": {"conditions": conditions}}, "/status")
    scene.until_called("judgePodDeregister", 1)
    cluster.delete("pods", "web-2")
    scene.until_registered({"pods": 2, "nodes": 1, "endpoints": 2, "static": 2})
    scene.until_called("listBackends", 2)
    for name in ("pods", "nodes", "endpoints", "static"):
        cluster.delete("backendgroups", name)
    until("all backends are deregistered", lambda: not cluster.items("backendrecords"))
    for name in ("lb", "other"):
        cluster.delete("loadbalancers", name)
        until("the load balancer is deleted", lambda: not cluster.get("loadbalancers", name))


UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BEFORE_UID = re.compile(r"^generateBackendAddr\(.*/.*\)$")
# Which the driver makes of a uid, and the tour of its process.
LOAD_BALANCER = re.compile(r"lb-[0-9a-f]{20}|lbcf-demo-[0-9a-f]+")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
# Of objects that Kubernetes versions itself.
VERSIONS = {"resourceVersion", "managedFields", "generation"}


def without_chance(value):
    """A body without what is another one in each run: uids, times, resource versions, names with random letters."""
    if isinstance(value, dict):
        return {key: without_chance(member) for key, member in sorted(value.items()) if key not in VERSIONS}
    if isinstance(value, list):
        return [without_chance(member) for member in value]
    if isinstance(value, str):
        value = BEFORE_UID.sub("generateBackendAddr(UID)", value)
        return LOAD_BALANCER.sub("LB", TIME.sub("TIME", UID.sub("UID", value)))
    return value


def distinct(bodies, is_now):
    """The different bodies by webhook. Those of now without the two members that are new."""
    found = {}
    for call in bodies:
        body = call["body"]
        if is_now:
            missing = [member for member in ("namespace", "name") if not isinstance(body.get(member), str)]
            if missing:
                raise SystemExit(f"{call['webhook']}: no {missing} in {json.dumps(body)}")
            body = {key: member for key, member in body.items() if key not in ("namespace", "name")}
        text = json.dumps(without_chance(body), sort_keys=True)
        found.setdefault(call["webhook"], set()).add(text)
    return found


def record(lbcf_of_cluster, lbcf, folder):
    scene = Scene(lbcf_of_cluster, lbcf, folder)
    try:
        play(scene)
    finally:
        scene.end()
    return scene.bodies()


def compare(before, now):
    """Fails where they differ."""
    before, now = distinct(before, False), distinct(now, True)
    differences = []
    for webhook in sorted(before | now):
        differences += [f"{webhook}: only before: {text}" for text in sorted(before.get(webhook, set()) - now.get(webhook, set()))]
        differences += [f"{webhook}: only now: {text}" for text in sorted(now.get(webhook, set()) - before.get(webhook, set()))]
    if differences:
        raise SystemExit("\n".join(differences))
    print(f"{sum(map(len, now.values()))} different bodies of {len(now)} webhooks are those of before, with namespace and name")
