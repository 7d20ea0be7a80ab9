"""Bodies of webhook calls, for programs with types that were generated from the document.

    bodies.py write DOCUMENT REPORT FOLDER
        bodies.json: the examples of the document, and what the kit sent and received by its report;
        examples.ts: the examples as TypeScript; types.go: what reads and writes each schema in Go
    bodies.py compare BODIES WRITTEN
        fails unless a program that read BODIES with its types wrote the same bodies
"""

import json
import sys
from pathlib import Path

# Read, and not kept: the kit's unknown members, and a member that Go's names could not tell from another.
NOT_NAMED = {"fieldOfALaterEdition", "anotherField", "OldParameters"}


def main(command, *arguments):
    {"write": write, "compare": compare}[command](*map(Path, arguments))


def write(document_path, report_path, folder):
    document = json.loads(document_path.read_text())
    schemas, examples = {}, []
    for path, item in document["paths"].items():
        post = item["post"]
        schemas[path] = []
        for content in (post["requestBody"], post["responses"]["200"]):
            media = content["content"]["application/json"]
            schema = media["schema"]["$ref"].rsplit("/", 1)[1]
            schemas[path].append(schema)
            for name, example in media["examples"].items():
                examples.append({"schema": schema, "of": f"example {name}", "body": example["value"]})
    bodies = {json.dumps(body): body for body in examples + list(of_the_kit(report_path, schemas))}
    (folder / "bodies.json").write_text(json.dumps(list(bodies.values())))
    lines = ['import type { components } from "./lbcf-webhooks";']
    for number, example in enumerate(examples):
        value = json.dumps(plain(example["body"], keeps_null=True))
        lines.append(f'export const example{number}: components["schemas"]["{example["schema"]}"] = {value};')
    (folder / "examples.ts").write_text("\n".join(lines))
    types = "\n".join(f'"{name}": again[webhooks.{name}],' for pair in schemas.values() for name in pair)
    package = 'package main\n\nimport "lbcf.test/openapi/webhooks"\n\n'
    go = package + "var types = map[string]func([]byte) ([]byte, error){\n" + types + "\n}\n"
    (folder / "types.go").write_text(go)
    print(f"{len(examples)} examples, and {len(bodies) - len(examples)} bodies of the kit")


def of_the_kit(report_path, schemas):
    """Valid calls: those of the checks BAD are not."""
    for check in json.loads(report_path.read_text())["results"]:
        for exchange in [] if check["group"] == "BAD" else check["exchanges"]:
            path = "/" + exchange["url"].rsplit("/", 1)[1]
            if path not in schemas or exchange["method"] != "POST" or exchange.get("status") != 200:
                continue
            for schema, side in zip(schemas[path], ("request", "response")):
                if exchange[f"{side}Body"] and not exchange.get(f"{side}Cut"):
                    yield {"schema": schema, "of": check["id"], "body": json.loads(exchange[f"{side}Body"])}


def compare(bodies_path, written_path):
    bodies = json.loads(bodies_path.read_text())
    written = json.loads(written_path.read_text())
    assert len(bodies) == len(written), f"{len(written)} of {len(bodies)} bodies were written"
    for body, again in zip(bodies, written):
        before, after = plain(body["body"]), plain(again)
        if "oldParameters" not in before:
            # What was OldParameters: names in Go ignore letter case.
            after.pop("oldParameters", None)
        assert before == after, f"{body['schema']}, {body['of']}:\nread    {before}\nwritten {after}"
    print(f"{len(bodies)} bodies read and written")


def plain(value, keeps_null=False):
    """Without null members, as null means absent."""
    if isinstance(value, list):
        return [plain(item, keeps_null) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item for key, item in value.items() if key not in NOT_NAMED}
    return {key: plain(item, keeps_null) for key, item in kept.items() if keeps_null or item is not None}


if __name__ == "__main__":
    main(*sys.argv[1:])
