"""The server that was generated from the document, as a driver: it takes every request and answers every example.

    server.py DOCUMENT BODIES
"""

import functools
import json
import sys
from itertools import cycle, islice
from pathlib import Path

from bodies import plain
from fastapi import FastAPI
from fastapi.testclient import TestClient
from lbcf_server.main import app as generated

document, bodies = (json.loads(Path(path).read_text()) for path in sys.argv[1:])
answers = {}


def driver():
    """The generated routes, whose functions do nothing, with functions that answer."""
    app = FastAPI()
    for route in (route for route in generated.routes if route.path in document["paths"]):

        @functools.wraps(route.endpoint)
        def answer(path=route.path, **_):
            return answers[path]

        kept = {"methods": route.methods, "response_model": route.response_model}
        # Otherwise each member that is not set is written as null.
        app.add_api_route(route.path, answer, **kept, response_model_exclude_none=True)
    return app


client, calls = TestClient(driver()), 0
for path, item in document["paths"].items():
    content = lambda part: part["content"]["application/json"]
    request = content(item["post"]["requestBody"])["schema"]["$ref"].rsplit("/", 1)[1]
    examples = content(item["post"]["responses"]["200"])["examples"].values()
    requests = [body["body"] for body in bodies if body["schema"] == request]
    for body, example in islice(zip(cycle(requests), cycle(examples)), max(len(requests), len(examples))):
        answers[path] = example["value"]
        response = client.post(path, json=body)
        assert response.status_code == 200, (path, body, response.text)
        assert response.json() == plain(example["value"]), (path, response.text)
        calls += 1
print(f"{calls} calls answered")
