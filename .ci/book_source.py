#!/usr/bin/env python3
"""Lays the book's source out for mdBook: book_source.py FOLDER LBCF   (the command, for its help)

Chapters are the documents that docs/SUMMARY.md lists, at their paths from the root, so that links between them hold. Other
files that they link to go along. Kinds, command line and metrics are made from the CRDs, the command's help and the definitions
of the metrics.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = "lbcf-driver-sdk/src/docs/"
RUSTDOC = "https://docs.rs/lbcf-driver-sdk/latest/lbcf_driver_sdk/"
# The metrics of the controller: type, name, help and labels of each, in this order. Its registry prints none without a value.
CONTROLLER_METRICS = "lbcf-controller/src/process/metrics/definitions.rs"
METRIC = re.compile(r'(counter|gauge|histogram)\w*(?:::new)?\(\s*"(\w+)",\s*"([^"]+)",?\s*(&\[[^\]]*\]|[A-Z_]+|)', re.I)
# Those of drivers of the SDK, and of the mock, which prints both.
PRINTED_METRICS = ["lbcf-driver-sdk/src/server/metrics/definitions.rs", "mock-driver/src/metrics.rs"]
PRINTED = re.compile(r"# HELP (\w+) (.*)\n# TYPE \w+ (\w+)\n\w+(?:\{(.*)\})? ")
LABEL = re.compile(r"(\w+)=\"")
LINK = re.compile(r"(\]\()([^)\s]+)(\))|^(\[[^\]]+\]: )(\S+)()", re.M)


def plain(text):
    return " ".join(text.split()).replace("<", "&lt;")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


class Book:
    def __init__(self, folder):
        self.folder = folder
        summary = (ROOT / "docs/SUMMARY.md").read_text()
        self.chapters = {os.path.normpath("docs/" + path) for path in re.findall(r"\]\(([^)]+)\)", summary)}
        listed = [*(ROOT / "docs").glob("**/*.md"), *(ROOT / GUIDE).glob("*.md")]
        if missing := {str(path.relative_to(ROOT)) for path in listed} - self.chapters - {"docs/SUMMARY.md"}:
            sys.exit(f"docs/SUMMARY.md does not list {sorted(missing)}")
        self.others = set()

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def link(self, path, target):
        """A link of the document at `path` as it is in the book."""
        file, mark, anchor = target.partition("#")
        if re.match(r"[a-z]+:/|mailto:", target) or not file:
            return target
        if item := re.fullmatch(r"(?:mod@)?crate(?:::(.+))?", target):
            chapter = f"{GUIDE}{(item[1] or '').removeprefix('guide::')}.md"
            known = (item[1] or "").startswith("guide::") and chapter in self.chapters
            return os.path.relpath(chapter, os.path.dirname(path)) if known else f"{RUSTDOC}?search={item[1] or ''}"
        found = os.path.normpath(os.path.join(os.path.dirname(path), file))
        if found in self.chapters:
            return target
        if found == "docs/SUMMARY.md":
            return os.path.relpath("toc.html", os.path.dirname(path))
        if (ROOT / found / "README.md").exists() and f"{found}/README.md" in self.chapters:
            return f"{file.rstrip('/')}/README.md{mark}{anchor}"
        if found.endswith(".md") or not (ROOT / found).is_file():
            sys.exit(f"{path} links to {target}, which docs/SUMMARY.md does not list")
        self.others.add(found)
        return file + self.suffix(found)

    @staticmethod
    def suffix(path):
        """Browsers show sources only as text."""
        return "" if path.endswith((".png", ".svg", ".json")) else ".txt"

    def chapter(self, path):
        parts = re.split(r"^(```.*\n(?:.*\n)*?```$)", (ROOT / path).read_text(), flags=re.M)
        guide = path.startswith(GUIDE)
        for number, part in enumerate(parts):
            if number % 2 and guide:
                # Rustdoc takes what names no language for Rust.
                parts[number] = re.sub(r"\A```(?=\n|no_run|ignore|should_panic)", lambda _: "```rust,", part).replace("```rust,\n", "```rust\n", 1)
            elif not number % 2:
                if guide:
                    part = re.sub(r"\[(`crate::([\w:]+)`)\](?!\()", r"[`\2`](crate::\2)", part)
                    part = re.sub(r"^#", "##", part, flags=re.M)
                    if number == 0:
                        title, rest = part.split(": ", 1)
                        part = f"# {title}\n\n{rest[0].upper()}{rest[1:]}"
                parts[number] = LINK.sub(lambda it: (it[1] or it[4]) + self.link(path, it[2] or it[5]) + it.expand(r"\3"), part)
        self.write(path, "".join(parts))

    def lay_out(self, generated):
        for path in self.chapters:
            self.chapter(path)
        for path in self.others:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, self.folder / (path + self.suffix(path)))
        rows = ""
        for title, path, text in generated:
            self.write(path, text)
            rows += f"* [{title}]({path})\n"
        summary = (ROOT / "docs/SUMMARY.md").read_text()
        summary = re.sub(r"\]\(([^)]+)\)", lambda it: f"]({os.path.normpath('docs/' + it[1])})", summary)
        summary, places = re.subn(r"<!-- made from the code: .* -->\n", lambda _: rows, summary)
        if places != 1:
            sys.exit("docs/SUMMARY.md has no place for what is made from the code")
        self.write("SUMMARY.md", summary)


def kind_of(schema):
    if schema.get("type") == "array":
        return f"list of {kind_of(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"map of {kind_of(schema['additionalProperties'])}"
    return schema.get("type") or "integer or string"


def fields(schema, at=""):
    """(path, schema, whether it is required) of each field below a schema."""
    for name, field in schema.get("properties", {}).items():
        yield f"{at}{name}", field, name in schema.get("required", [])
        inner, path = field, f"{at}{name}"
        while "items" in inner:
            inner, path = inner["items"], path + "[]"
        yield from fields(inner, path + ".")


def described(field):
    parts = [field.get("description", "")]
    if values := field.get("items", field).get("enum"):
        parts.append("One of " + ", ".join(f"`{value}`" for value in values if value is not None) + ".")
    if "default" in field:
        parts.append(f"Default: `{json.dumps(field['default'])}`.")
    if rules := list(dict.fromkeys(rule["message"] for rule in field.get("x-kubernetes-validations", []))):
        parts.append(f"Rules: {'; '.join(rules)}.")
    return plain(" ".join(filter(None, parts)))


def kinds():
    text = "# Kinds\n\nEvery field, as `kubectl explain` has them, too.\n"
    for path in sorted((ROOT / "deploy/crds").glob("lbcf*.yaml")):
        spec = yaml.safe_load(path.read_text())["spec"]
        names, version = spec["names"], spec["versions"][0]
        short = ", ".join(f"`{name}`" for name in [names["plural"], *names.get("shortNames", [])])
        schema = version["schema"]["openAPIV3Schema"]
        text += f"\n## {names['kind']}\n\n{plain(schema['description'])}\n\n"
        text += f"`apiVersion: {spec['group']}/{version['name']}`; for kubectl: {short}.\n\n"
        for name, field, required in fields(schema):
            text += f"* **`{name}`**, {kind_of(field)}{', required' if required else ''}: {described(field)}\n"
    return text


def commands(lbcf, words=()):
    """The help of a command and of those below it."""
    output = subprocess.run([lbcf, *words, "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "88"}).stdout
    text = f"\n{'#' * min(len(words) + 1, 3)} {'Command line' if not words else f'lbcf {chr(32).join(words)}'}\n\n```text\n{output.strip()}\n```\n"
    below = output.partition("\nCommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^  (\w[\w-]*)", below, re.M):
        if name != "help":
            text += commands(lbcf, (*words, name))
    return text


def metrics(lbcf):
    source = (ROOT / CONTROLLER_METRICS).read_text()
    constants = dict(re.findall(r"const (\w+): &\[&str\] = (&\[.*?\]);", source))
    defined = [(name, kind.lower(), re.findall(r'"(\w+)"', constants.get(labels, labels)), meaning)
               for kind, name, meaning, labels in METRIC.findall(source)]
    if len(defined) != len(re.findall(r"define\.\w+\(", source)):
        sys.exit(f"{CONTROLLER_METRICS} defines metrics in a way that is not read")
    printed = [(name, kind, [label for label in LABEL.findall(labels) if label != "le"], meaning)
               for name, meaning, kind, labels in PRINTED.findall(printed_by_the_mock(lbcf))]
    names = {name for path in PRINTED_METRICS for name in re.findall(r'"(lbcf_\w+)"', (ROOT / path).read_text())}
    if missing := names ^ {row[0] for row in printed}:
        sys.exit(f"metrics that the mock does not print, or that are defined elsewhere: {sorted(missing)}")
    text = "# Metrics\n\nAll are in Prometheus' text format; histograms are of seconds.\n"
    of_mock = [row for row in printed if row[0].startswith("lbcf_mock_")]
    of_drivers = [row for row in printed if row not in of_mock]
    for title, rows in [("The controller", defined), ("Drivers of the SDK", of_drivers), ("The mock", of_mock)]:
        rows = [[f"`{name}`", kind, ", ".join(f"`{label}`" for label in labels), plain(meaning)] for name, kind, labels, meaning in rows]
        text += f"\n## {title}\n\n" + table(["metric", "type", "labels", "meaning"], rows)
    return text


def printed_by_the_mock(lbcf):
    """`/metrics` when every metric has a value."""
    command = [lbcf, "mock-driver", "--listen", "127.0.0.1:0", "--traffic", "--max-load-balancers", "9"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as mock:
        try:
            url = next(found[0] for line in mock.stdout if (found := re.search(r"http://[\d.:]+", line)))
            fault, call = b'{"match":{},"action":{"fail":{"message":"x"}}}', b'{"recordID":"createLoadBalancer(x)","lbSpec":{}}'
            for path, body in [("_mock/faults", fault), ("createLoadBalancer", call), ("createLoadBalancer", b"no JSON")]:
                with contextlib.suppress(urllib.error.HTTPError):
                    urllib.request.urlopen(f"{url}/{path}", body, timeout=60).close()
            return urllib.request.urlopen(f"{url}/metrics", timeout=60).read().decode()
        finally:
            mock.kill()


def main():
    folder, lbcf = pathlib.Path(sys.argv[1]), sys.argv[2]
    shutil.rmtree(folder, ignore_errors=True)
    Book(folder).lay_out([
        ("Kinds", "reference/kinds.md", kinds()),
        ("Command line", "reference/command-line.md", commands(lbcf).lstrip()),
        ("Metrics", "reference/metrics.md", metrics(lbcf)),
    ])


main()
