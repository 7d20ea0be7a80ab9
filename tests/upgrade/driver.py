"""A driver as it was before version 1 of the specification: no healthz, no features, no reasons and no pages. It records
the body of each call as a line of JSON. What it does in its cloud is what the driver of the specification does."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "conformance/drivers/from-specification"))
import driver  # noqa: E402
import observer  # noqa: E402


class Handler(observer.Observed):
    def handle_call(self):
        if self.path == "/healthz":
            return self.answer(404, {"error": "no such webhook"})
        super().handle_call()

    do_POST = do_GET = handle_call

    def answer(self, status, response):
        for member in ("reason", "continue"):
            response.pop(member, None)
        super().answer(status, response)

    def log_message(self, *_):
        pass


def recorded(call, lines):
    def call_webhook(webhook, request):
        print(json.dumps({"webhook": webhook, "body": request}), file=lines, flush=True)
        return call(webhook, request)
    return call_webhook


if __name__ == "__main__":
    driver.call_webhook = recorded(driver.call_webhook, open(sys.argv[1], "a"))
    server = driver.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
