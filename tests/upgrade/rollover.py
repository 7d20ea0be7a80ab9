"""One cluster, whose controller is the one before, then the one of now, then the one before: after a proper end, and after a
crash. Clients send requests through the load balancer all the time: none fails, and nothing is registered anew."""
import http.client
import json
import threading
import time

from processes import Cluster, Process, request, start_controller, until

PORT, VPC = 8080, "vpc-shop"


class Clients:
    """Sends requests, one after the other, until it is told to end."""

    def __init__(self, address):
        self.address, self.sent, self.failed, self.ends = address, 0, [], False
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def send(self):
        while not self.ends:
            self.sent += 1
            try:
                connection = http.client.HTTPConnection(self.address, timeout=10)
                connection.request("GET", "/")
                status = connection.getresponse().status
                connection.close()
                if status != 200:
                    self.failed.append(f"status {status}")
            except OSError as error:
                self.failed.append(repr(error))
            time.sleep(0.005)

    def end(self):
        self.ends = True
        self.thread.join()


class Shop:
    def __init__(self, lbcf_of_now, folder):
        self.folder = folder
        self.cluster = Cluster(lbcf_of_now, folder, "--pod-traffic")
        self.driver = Process(folder, "mock-driver", lbcf_of_now, "mock-driver", "--listen", "127.0.0.1:0", "--traffic")
        self.driver_url = self.driver.url()
        self.controller = None

    def create(self):
        self.cluster.create("loadbalancerdrivers", "lbcf-mock", "kube-system", spec={
            "driverType": "Webhook", "url": self.driver_url, "webhooks": [{"name": "listBackends", "timeout": "10s"}]})
        self.cluster.create("loadbalancers", "lb", spec={"lbDriver": "lbcf-mock", "lbSpec": {
            "lbVpcID": VPC, "lbListenerPort": "80", "lbListenerProtocol": "TCP"}})
        container = {"name": "web", "image": "web", "ports": [{"containerPort": PORT}]}
        labels = {"app": "web"}
        self.cluster.create("deployments", "web", spec={
            "replicas": 4, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}})
        self.cluster.create("backendgroups", "web", spec={
            "loadBalancers": ["lb"], "parameters": {"weight": "10"},
            "pods": {"ports": [{"port": PORT, "protocol": "TCP"}], "byLabel": {"selector": labels}}})

    def begin(self, lbcf, name):
        """Another controller takes over. The seconds until it leads are part of what a user sees."""
        self.controller = start_controller(lbcf, self.folder, self.cluster, name)

    def until_registered(self, count):
        def is_registered():
            status = self.cluster.get("backendgroups", "web").get("status") or {}
            return (status.get("backends"), status.get("registeredBackends")) == (count, count)
        until(f"{count} backends are registered", is_registered)

    def change_weight(self, weight, count):
        """Which the controller has to see, so that it has read everything."""
        self.cluster.patch("backendgroups", "web", {"spec": {"parameters": {"weight": weight}}})
        def is_changed():
            calls = self.calls("webhook=ensureBackend&bodies=true")
            weights = {it["recordID"]: json.loads(it["request"])["parameters"]["weight"] for it in calls}
            return list(weights.values()).count(weight) == count
        until(f"{count} backends have the weight {weight}", is_changed)

    def scale(self, count):
        self.cluster.patch("deployments", "web", {"spec": {"replicas": count}})
        self.until_registered(count)

    def records(self):
        return {it["metadata"]["uid"] for it in self.cluster.items("backendrecords")}

    def listeners(self):
        """The traffic of the listeners that the driver made: others are there from the beginning."""
        seen = request(f"{self.driver_url}/_mock/loadbalancers")["loadBalancers"]
        made = [it for it in seen if it["vpc"] == VPC]
        return [listener for it in made for listener in it.get("traffic", {}).get("listeners", [])]

    def address(self):
        [listener] = self.listeners()
        return listener["listens"]

    def calls(self, query):
        return request(f"{self.driver_url}/_mock/requests?{query}")["requests"]

    def end(self):
        for process in (self.controller, self.driver, self.cluster.process):
            process.end()


def roll_over(before, now, folder):
    shop = Shop(now, folder)
    try:
        shop.create()
        shop.begin(before, "1-before")
        shop.until_registered(4)
        clients = Clients(shop.address())
        of_before = shop.records()
        shop.controller.end()
        shop.begin(now, "2-now")
        shop.change_weight("20", 4)
        expect(shop.records() == of_before, "the records of the controller before are kept")
        shop.scale(7)
        of_now = shop.records()
        shop.controller.end(at_once=True)
        shop.begin(before, "3-before")
        shop.change_weight("30", 7)
        expect(shop.records() == of_now, "the records of the controller of now are kept")
        deregistered = shop.calls("webhook=deregisterBackend")
        expect(not deregistered, f"nothing was deregistered: {deregistered}")
        shop.scale(5)
        clients.end()
        expect(not clients.failed, f"no request failed of {clients.sent}: {clients.failed[:5]}")
        created = {it["recordID"] for it in shop.calls("webhook=createLoadBalancer")}
        expect(len(created) == 1, "one load balancer was created")
        shop.cluster.delete("backendgroups", "web")
        until("all backends are deregistered", lambda: not shop.records())
        shop.cluster.delete("loadbalancers", "lb")
        until("the load balancer is deleted", lambda: not shop.cluster.get("loadbalancers", "lb"))
        expect(not shop.listeners(), "the load balancer is gone from the cloud")
        print(f"before, now, before on one cluster: {clients.sent} requests, none failed; no record was made anew")
    finally:
        shop.end()


def expect(is_true, what):
    if not is_true:
        raise SystemExit(f"expected: {what}")
