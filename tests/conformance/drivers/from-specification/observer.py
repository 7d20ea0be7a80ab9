"""The driver with an observer for the kit, which shows the cloud, and changes it as if by hand. For tests only."""
import json
import sys

import driver


class Observed(driver.Handler):
    def handle_call(self):
        if not self.path.startswith("/observe"):
            return super().handle_call()
        change = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or "{}")
        with driver.cloud_lock:
            changed, addr = driver.cloud.get(change.get("lbInfo", {}).get("id")), change.get("addr")
            if self.path == "/observe/attributes":
                changed["attributes"] = change["attributes"]
            if self.path == "/observe/foreign":
                changed["backends"][addr] = {"backendAddr": addr, "parameters": {}}
            if self.path == "/observe/unbind":
                changed["backends"].pop(addr, None)
            self.answer(200, {"loadBalancers": [observed(*item) for item in driver.cloud.items()]})

    do_POST = do_GET = handle_call


def observed(identity, load_balancer):
    backends = load_balancer["backends"].items()
    return {"lbInfo": {"id": identity, "address": identity + ".lb.example"}, "attributes": load_balancer["attributes"],
            "backends": [{"addr": addr, "parameters": it["parameters"]} for addr, it in backends]}


if __name__ == "__main__":
    driver.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Observed).serve_forever()
