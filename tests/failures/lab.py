"""A cluster of Kubernetes' own API server, pods that answer, a load balancer of the mock, and those who use them all the time."""
import asyncio
import base64
import collections
import http.client
import http.server
import json
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "upgrade"))
import processes  # noqa: E402
from processes import Process, request, until  # noqa: E402

processes.DEADLINE = 1200  # seconds: there are many pods, and a new CA signs after ten minutes

PORT, NAMESPACE, VPC = 8090, "shop", "vpc-failures"
LBCF = f"/apis/lbcf.tkestack.io/v1beta1/namespaces/{NAMESPACE}"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
SERVES = 5  # seconds that a pod still answers when it is no longer Ready, as one that is being replaced
BACK = 10  # seconds from then until it is Ready again


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Refused(Exception):
    """An answer that is an error."""


class Cluster:
    """The API server of tests/real-cluster, which keeps its data."""

    def __init__(self, folder):
        self.folder, self.data, self.kubeconfig = folder, folder / "data", folder / "kubeconfig"
        self.local = threading.local()
        self.start()

    def start(self):
        self.kubeconfig.unlink(missing_ok=True)
        command = HERE.parent / "real-cluster/run"
        self.process = Process(self.folder, "cluster", command, "--nodes", 2, "--data", self.data, "--kubeconfig", self.kubeconfig)
        while not self.kubeconfig.exists():
            if self.process.child.poll() is not None:
                raise SystemExit("the cluster did not start: see cluster.log")
            time.sleep(0.05)
        text = self.kubeconfig.read_text()
        member = lambda name: re.search(rf"{name}: (\S+)", text).group(1)  # noqa: E731
        self.address, self.token = member("server").removeprefix("https://"), member("token")
        authority = base64.b64decode(member("certificate-authority-data")).decode()
        self.tls = ssl.create_default_context(cadata=authority)

    def call(self, method, path, body=None, media="application/merge-patch+json"):
        """The JSON of an answer; raises OSError, HTTPException or Refused."""
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = http.client.HTTPSConnection(self.address, context=self.tls, timeout=10)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": media if method == "PATCH" else "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.local.connection = None
            raise
        if answer.status >= 400:
            print(f"{method} {path}: {answer.status}: {content.decode().strip()}", file=sys.stderr)
            raise Refused(f"HTTP {answer.status}")
        return json.loads(content)

    def call_until_taken(self, *call):
        def taken():
            try:
                return self.call(*call)
            except (OSError, http.client.HTTPException, Refused) as error:
                nonlocal last
                last = error
        last = None
        return until(f"{call[0]} {call[1]}", taken)

    def apply(self, path, kind, name, version="lbcf.tkestack.io/v1beta1", **members):
        metadata = {"name": name, **members.pop("metadata", {})}
        self.call_until_taken("POST", path, {"apiVersion": version, "kind": kind, "metadata": metadata, **members})


def ip_of(number):
    return f"127.77.{number // 250}.{number % 250 + 1}"


# Something that was tried, and why it failed, or None.
Attempt = collections.namedtuple("Attempt", "at failure")
Call = collections.namedtuple("Call", "at webhook address")


class Repeating:
    """Does something at a fixed rate in a thread, until it is told to end, and notes why an attempt failed."""

    def __init__(self, per_second, what):
        self.pause, self.what, self.attempts, self.ends = 1 / per_second, what, [], False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def end(self):
        self.ends = True
        self.thread.join()

    def run(self):
        due = time.monotonic()
        while not self.ends:
            began = time.monotonic()
            try:
                self.what()
                failure = None
            except (OSError, http.client.HTTPException, Refused) as error:
                failure = str(error) if isinstance(error, Refused) else "the API server is away"
            self.attempts.append(Attempt(began, failure))
            due = max(due + self.pause, time.monotonic() - 1)
            time.sleep(max(0, due - time.monotonic()))


class Network:
    """In a thread of its own: the pods, which answer at addresses of this machine; the Service of the admission webhooks; and
    clients of the load balancer."""

    def __init__(self, per_second):
        self.gone, self.admission, self.pause, self.requests = set(), [], 1 / per_second, []
        self.address, self.service = None, free_port()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.run(asyncio.start_server(self.answer, "0.0.0.0", PORT, backlog=4096))
        self.run(asyncio.start_server(self.forward, "127.0.0.1", self.service, backlog=4096))

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def answer(self, reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            if writer.get_extra_info("sockname")[0] in self.gone:
                writer.transport.abort()
                return
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        writer.close()

    async def forward(self, reader, writer):
        """As a Service does: to one that listens."""
        for port in list(self.admission):
            try:
                up = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            await asyncio.gather(copy(reader, up[1]), copy(up[0], writer))
            return
        writer.transport.abort()

    def send(self, address):
        host, port = address.rsplit(":", 1)
        self.address = (host, int(port))
        asyncio.run_coroutine_threadsafe(self.send_all(), self.loop)

    async def send_all(self):
        due, running = time.monotonic(), set()
        while True:
            task = asyncio.create_task(self.send_one())
            running.add(task)
            task.add_done_callback(running.discard)
            due += self.pause
            await asyncio.sleep(max(0, due - time.monotonic()))

    async def send_one(self):
        began, failure, writer = time.monotonic(), None, None
        try:
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_connection(*self.address)
                writer.write(b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n")
                answer = await reader.read()
                failure = None if b" 200 OK" in answer else "no answer of a pod"
        except TimeoutError:
            failure = "no answer within 5 s"
        except OSError:
            failure = "the load balancer is away"
        if writer:
            writer.close()
        self.requests.append(Attempt(began, failure))


async def copy(reader, writer):
    try:
        while chunk := await reader.read(1 << 16):
            writer.write(chunk)
            await writer.drain()
    except OSError:
        pass
    writer.close()


class Driver:
    """The mock, whose state survives it, and the calls that it prints."""

    def __init__(self, lbcf, folder):
        self.lbcf, self.folder, self.listen, self.calls = lbcf, folder, f"127.0.0.1:{free_port()}", []
        self.spec = {"lbVpcID": VPC, "lbListenerPort": "80", "lbListenerProtocol": "TCP"}
        self.start()

    def start(self):
        self.process = Process(self.folder, "mock-driver", self.lbcf, "mock-driver", "--empty", "--listen", self.listen, "--traffic",
                               "--print-calls", "--state-file", self.folder / "cloud.json", "--log-level", "warn")
        self.url = self.process.url()
        threading.Thread(target=self.read, args=(self.process.child.stdout,), daemon=True).start()

    def read(self, lines):
        for line in lines:
            call = json.loads(line)
            if call["webhook"] in ("createLoadBalancer", "ensureBackend", "deregisterBackend"):
                self.calls.append(Call(time.monotonic(), call["webhook"], call["address"]))

    def listeners(self):
        seen = request(f"{self.url}/_mock/loadbalancers")["loadBalancers"]
        return [it for seen in seen for it in seen.get("traffic", {}).get("listeners", [])]

    def registered(self):
        return sum(len(it["backends"]) for it in self.listeners())

    @property
    def balanced(self):
        return self.listeners()[0]["listens"]

    def end(self):
        self.process.end()


class HaproxyDriver:
    """The driver of HAProxy, whose load balancer goes on without it; a proxy before it notes the calls."""

    def __init__(self, program, folder):
        self.program, self.folder, self.port, self.calls = program, folder, free_port(), []
        self.listen, self.balanced = f"127.0.0.1:{free_port()}", f"127.0.0.1:{self.port}"
        self.spec = {"address": "127.0.0.1", "port": str(self.port)}
        (folder / "haproxy").mkdir()
        self.start()
        noted = self

        class Noting(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    self.forward(body)
                    noted.note(self.path.rsplit("/", 1)[1], json.loads(body))
                except (OSError, http.client.HTTPException):
                    self.close_connection = True  # as if there were no proxy

            def forward(self, body):
                connection = http.client.HTTPConnection(noted.listen, timeout=30)
                connection.request("POST", self.path, body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Noting)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

    def start(self):
        self.process = Process(self.folder, "haproxy-driver", self.program, "--listen", self.listen, "--dir", self.folder / "haproxy")
        self.process.url()

    def note(self, webhook, request):
        if webhook in ("createLoadBalancer", "ensureBackend", "deregisterBackend"):
            self.calls.append(Call(time.monotonic(), webhook, request.get("backendAddr")))

    def registered(self):
        """Of the last calls for each address."""
        last = {it.address: it.webhook for it in self.calls if it.address}
        return sum(webhook == "ensureBackend" for webhook in last.values())

    def end(self):
        self.process.end()
        for haproxy in (self.folder / "haproxy").glob("*.pid"):
            subprocess.run(["kill", haproxy.read_text().strip()], check=False)


class Replicas:
    """Controllers, each with its own admission webhooks."""

    def __init__(self, folder, cluster, network):
        self.folder, self.cluster, self.network, self.running = folder, cluster, network, {}

    def start(self, lbcf, name):
        port, health = free_port(), f"127.0.0.1:{free_port()}"
        flags = ["--kubeconfig", self.cluster.kubeconfig, "--health-address", health, "--leader-elect-identity", name,
                 "--admission-address", f"127.0.0.1:{port}", "--admission-names", "127.0.0.1", "--log-level", "warn"]
        self.running[name] = (Process(self.folder, f"controller-{name}", lbcf, "controller", *flags), port)
        until(f"{name} is ready", lambda: is_ready(health))
        self.network.admission.append(port)

    def end(self, name, pre_stop):
        """As a kubelet does it: the Service forgets the replica first."""
        process, port = self.running.pop(name)
        self.network.admission.remove(port)
        time.sleep(pre_stop)
        process.end()

    def kill(self, name):
        self.running.pop(name)[0].end(at_once=True)

    def leader(self):
        lease = self.cluster.call_until_taken("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/lbcf-controller")
        holder = lease["spec"].get("holderIdentity") or ""
        return next((name for name in self.running if holder.startswith(name)), None)


def is_ready(address):
    connection = http.client.HTTPConnection(address, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


class Rollout:
    """Pods that are replaced, so many in a second: not Ready, a while later gone, then Ready again at the same address."""

    def __init__(self, cluster, network, count, per_second):
        self.cluster, self.network, self.pause = cluster, network, 1 / per_second
        self.ready, self.returning, self.changed, self.ends = [True] * count, collections.deque(), 0, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        due = time.monotonic()
        while not self.ends or self.returning:
            now = time.monotonic()
            if not self.ends and now >= due:
                due = now + self.pause
                number = self.changed % len(self.ready)
                self.changed += 1
                self.set_ready(number, False)
                self.network.loop.call_soon_threadsafe(self.network.loop.call_later, SERVES, self.network.gone.add, ip_of(number))
                self.returning.append((time.monotonic() + BACK, number))
            if self.returning and self.returning[0][0] <= time.monotonic():
                number = self.returning.popleft()[1]
                self.network.gone.discard(ip_of(number))
                self.set_ready(number, True)
            time.sleep(0.005)

    def set_ready(self, number, ready):
        """Kubelets repeat what they report until it is taken."""
        self.ready[number] = ready
        self.report(number)

    def report(self, number):
        body = {"metadata": {"annotations": {"local-cluster/ready": str(self.ready[number]).lower()}}}
        self.cluster.call_until_taken("PATCH", f"{PODS}/web-{number}", body)

    def report_all(self):
        """As kubelets do to an API server that knows what was."""
        for number in range(len(self.ready)):
            self.report(number)

    def end(self):
        self.ends = True
        self.thread.join()


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
