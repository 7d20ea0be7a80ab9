#!/usr/bin/env python3
"""What is lost when parts fail under load, on Kubernetes' own API server: prints the table of docs/failures.md.

    cargo build --release -p lbcf-cli
    tests/failures/run.py target/release/lbcf --before "$(.ci/before)/lbcf"
    cargo build --release -p haproxy-driver
    tests/failures/run.py target/release/lbcf --haproxy target/release/haproxy-driver --only driver
"""
import argparse
import base64
import collections
import concurrent.futures
import pathlib
import re
import shutil
import socket
import ssl
import tempfile
import time

from lab import (LBCF, NAMESPACE, PODS, PORT, Cluster, Driver, HaproxyDriver, Network, Repeating, Replicas, Rollout, ip_of, output,
                 until)

REPLACED, PER_SECOND, REQUESTS, APPLIES = 500, 10, 200, 10
PRE_STOP = 5  # seconds, as in deploy/controller/deployment.yaml
STEADY, OBSERVED = 10, 45  # seconds before and after a failure
SECRET = "/api/v1/namespaces/kube-system/secrets/lbcf-controller-admission"
HEADER = """| what fails | longest time without a change in the cloud | requests lost | applies refused | deregistered wrongly | created anew |
|---|---|---|---|---|---|"""


class Lab:
    def __init__(self, folder, lbcf, before, pods, haproxy):
        self.folder, self.lbcf, self.before, self.pods = folder, lbcf, before, pods
        self.cluster = Cluster(folder)
        self.network = Network(REQUESTS)
        self.driver = HaproxyDriver(haproxy, folder) if haproxy else Driver(lbcf, folder)
        self.replicas = Replicas(folder, self.cluster, self.network)
        self.replaced = {f"{ip_of(number)}:{PORT}" for number in range(REPLACED)}

    def apply_files(self, text):
        """Manifests that lbcf prints."""
        file = self.folder / "manifests.yaml"
        file.write_text(text)
        output("kubectl", "--kubeconfig", self.cluster.kubeconfig, "apply", "--server-side", "-f", file)

    def prepare(self):
        self.apply_files(output(self.lbcf, "crds"))
        self.cluster.apply("/api/v1/namespaces", "Namespace", NAMESPACE, "v1")
        drivers = LBCF.replace(NAMESPACE, "kube-system") + "/loadbalancerdrivers"
        self.cluster.call_until_taken("GET", drivers)
        for name in ("a", "b"):
            self.replicas.start(self.before, name)
        self.apply_files(output(self.lbcf, "webhooks", "--url", f"https://127.0.0.1:{self.network.service}"))
        self.cluster.apply(drivers, "LoadBalancerDriver", "lbcf-mock", spec={"driverType": "Webhook", "url": self.driver.url})
        self.cluster.apply(f"{LBCF}/loadbalancers", "LoadBalancer", "lb", spec={
            "lbDriver": "lbcf-mock", "lbSpec": self.driver.spec})
        labels = {"app": "web"}
        container = {"name": "web", "image": "web", "ports": [{"containerPort": PORT}]}

        def create(number):
            self.cluster.apply(PODS, "Pod", f"web-{number}", "v1", spec={"containers": [container]}, metadata={
                "labels": labels, "annotations": {"local-cluster/pod-ip": ip_of(number)}})
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(create, range(self.pods)))
        self.cluster.apply(f"{LBCF}/backendgroups", "BackendGroup", "web", spec={
            "loadBalancers": ["lb"], "parameters": {"weight": "10"},
            "pods": {"ports": [{"port": PORT, "protocol": "TCP"}], "byLabel": {"selector": labels}}})
        self.until_whole()
        self.network.send(self.driver.balanced)

    def until_whole(self):
        """All pods are Ready, and all of them are registered."""
        until(f"{self.pods} backends are in the cloud", lambda: self.driver.registered() == self.pods)

    def measure(self, title, fail):
        weights = iter(range(1, 1 << 30))

        def apply():
            body = {"spec": {"parameters": {"weight": str(next(weights) % 50 + 1)}}}
            self.cluster.call("PATCH", f"{LBCF}/backendgroups/web?dryRun=All", body)
        rollout, applies = Rollout(self.cluster, self.network, REPLACED, PER_SECOND), Repeating(APPLIES, apply)
        time.sleep(STEADY)
        began = time.monotonic()
        fail(self, rollout)
        time.sleep(max(0, began + OBSERVED - time.monotonic()))
        rollout.end()
        applies.end()
        self.until_whole()
        self.add_row(title, began, applies.attempts)

    def add_row(self, title, began, applies):
        calls = [it for it in self.driver.calls if it.at >= began - 1]
        changes = [it.at for it in calls if it.webhook != "createLoadBalancer"]
        gap = max(after - before for before, after in zip(changes, changes[1:]))
        deregistered = [it.address for it in calls if it.webhook == "deregisterBackend"]
        wrongly = len(deregistered) - sum(address in self.replaced for address in deregistered)
        if wrongly == len(deregistered):
            raise SystemExit(f"{title}: no deregistration of a pod that is replaced was seen")
        created = sum(it.webhook == "createLoadBalancer" for it in calls)
        tried = [[it for it in attempts if it.at >= began] for attempts in (self.network.requests, applies)]
        cells = [title, f"{gap:.1f} s", *map(failed, tried), str(wrongly), str(created)]
        print("|", " | ".join(cells), "|", flush=True)

    def end(self):
        for name in list(self.replicas.running):
            self.replicas.end(name, 0)
        self.driver.end()
        self.cluster.process.end()


def failed(attempts):
    """How many failed of how many, and how."""
    counts = collections.Counter(it.failure for it in attempts if it.failure)
    detail = "".join(f"; {count} {reason}" for reason, count in counts.most_common(3))
    return f"{counts.total()} of {len(attempts)}{detail}"


def upgrade(lab, _):
    """As a Deployment does it: one more, then one less."""
    for old, new in (("a", "c"), ("b", "d")):
        lab.replicas.start(lab.lbcf, new)
        lab.replicas.end(old, PRE_STOP)


def kill_leader(lab, _):
    lab.replicas.kill(lab.replicas.leader())
    lab.replicas.start(lab.lbcf, "e")


def kill_driver(lab, _):
    lab.driver.process.end(at_once=True)
    time.sleep(2)
    lab.driver.start()


def restart_api_server(lab, _):
    lab.cluster.process.end(at_once=True)
    shutil.copytree(lab.cluster.data, lab.folder / "copy")
    lab.cluster.start()


def restore_etcd(lab, rollout):
    lab.cluster.process.end(at_once=True)
    shutil.rmtree(lab.cluster.data)
    shutil.copytree(lab.folder / "copy", lab.cluster.data)
    lab.cluster.start()
    rollout.report_all()


def authorities(lab):
    stored = base64.b64decode(lab.cluster.call_until_taken("GET", SECRET)["data"].get("ca.crt", "")).decode()
    return set(re.findall("-----BEGIN.*?-----END CERTIFICATE-----\n", stored, re.DOTALL))


def replace_authority(lab, _):
    lab.authorities = authorities(lab)
    lab.cluster.call_until_taken("DELETE", SECRET)


def until_new_authority_signs(lab, _):
    trusted = ssl.create_default_context(cadata="".join(authorities(lab) - lab.authorities))

    def signs():
        try:
            stream = socket.create_connection(("127.0.0.1", lab.network.service))
            with trusted.wrap_socket(stream, server_hostname="127.0.0.1"):
                return True
        except ssl.SSLCertVerificationError:
            return None
    until("the new CA signs", signs)
    time.sleep(STEADY)


ROWS = {
    "nothing fails": lambda lab, rollout: None,
    "upgrade from the build before": upgrade,
    "the leader is killed": kill_leader,
    "the driver is killed, for 2 s": kill_driver,
    "the API server is killed, and starts again": restart_api_server,
    "the same, and etcd is restored from a copy of before the last row": restore_etcd,
    "the Secret of the webhooks' keys is deleted, so that there is a new CA": replace_authority,
    "ten minutes later the new CA signs": until_new_authority_signs,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lbcf", type=pathlib.Path, help="the lbcf to measure")
    parser.add_argument("--before", type=pathlib.Path, help="the lbcf that is upgraded (default: the same)")
    parser.add_argument("--pods", type=int, default=2000, help=f"at least {REPLACED}, which are replaced in turn (default: 2000)")
    parser.add_argument("--haproxy", type=pathlib.Path, help="the driver of HAProxy, instead of that of the mock")
    parser.add_argument("--only", default="", help="a part of the titles of the rows that are measured")
    given = parser.parse_args()
    if given.pods < REPLACED:
        parser.error(f"--pods {given.pods}: at least {REPLACED} are needed")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lbcf-failures-"))
    print(f"logs in {folder}", flush=True)
    lab = Lab(folder, given.lbcf.resolve(), (given.before or given.lbcf).resolve(), given.pods, given.haproxy and given.haproxy.resolve())
    try:
        lab.prepare()
        print(HEADER, flush=True)
        for title, fail in ROWS.items():
            if given.only in title:
                lab.measure(title, fail)
    finally:
        lab.end()
    shutil.rmtree(folder / "copy", ignore_errors=True)


if __name__ == "__main__":
    main()
