#!/usr/bin/env python3
"""Shows reports of the kit to other projects' readers.

Each folder has report.json, report.xml and report.tap, of the same run. The JSON is held against
the published schema, the JUnit XML against Jenkins' schema as pytest keeps it (junit-10.xsd, in its
source distribution), the TAP is read by tap-parser, which knows TAP 14; and the three have to tell
of the same number of checks and of failures.

    check.py --xsd FILE|SDIST --tap-parser PROGRAM FOLDER...

Exit code 1 where something is refused, 2 where a reader or a file is missing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree

try:
    import jsonschema
    import xmlschema
except ImportError as problem:
    sys.exit(print(f"{problem}: pip install -r requirements.txt", file=sys.stderr) or 2)

SCHEMA = pathlib.Path(__file__).parent.parent / "schema" / "report.schema.json"


class Refused(Exception):
    """A reader does not take a report."""


def junit_schema(path):
    """The schema, from a file or from within a source distribution."""
    if path.suffix == ".xsd":
        return xmlschema.XMLSchema(str(path))
    with tarfile.open(path) as archive:
        names = [name for name in archive.getnames() if name.endswith("/junit-10.xsd")]
        if not names:
            raise FileNotFoundError(f"{path} has no junit-10.xsd")
        return xmlschema.XMLSchema(archive.extractfile(names[0]).read().decode())


def check_json(text, validator):
    """Counts (checks, unexpected failures)."""
    report = json.loads(text)
    errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(report)]
    if errors:
        raise Refused("; ".join(errors[:5]))
    results = report["results"]
    failed = [r for r in results if r["status"] == "failed" and r["level"] == "MUST" and "known" not in r]
    return len(results), len(failed)


def check_junit(path, schema):
    errors = [f"{error.path}: {error.reason}" for error in schema.iter_errors(str(path))]
    if errors:
        raise Refused("; ".join(errors[:5]))
    root = ElementTree.parse(path).getroot()
    cases = root.findall("testsuite/testcase")
    failures = root.findall("testsuite/testcase/failure")
    for attribute, found in (("tests", cases), ("failures", failures)):
        told = sum(int(suite.get(attribute)) for suite in root)
        if not int(root.get(attribute)) == told == len(found):
            raise Refused(f"{attribute} are {len(found)}, told are {told} and {root.get(attribute)}")
    return len(cases), len(failures)


def check_tap(path, program):
    """Strict: a line that is not TAP fails."""
    done = subprocess.run(
        [program, "--strict", "--json=0"],
        input=path.read_bytes(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    events = json.loads(done.stdout)

    def told(name):
        return [event[1] for event in events if event[0] == name]

    (final,) = told("complete")
    points = told("assert")
    extra = [line for line in told("extra") if line.strip()]
    if told("version") != [14]:
        raise Refused(f"the version is {told('version')}")
    if extra:
        raise Refused(f"no TAP: {extra[0]!r}")
    without_diagnostics = [p["id"] for p in points if not p["ok"] and not p.get("diag")]
    if without_diagnostics:
        raise Refused(f"the diagnostics are not YAML of {without_diagnostics}")
    wrong = [failure["tapError"] for failure in final["failures"] if failure.get("tapError")]
    if wrong:
        raise Refused("; ".join(wrong))
    plan = final["plan"]
    if plan["end"] + 1 - plan["start"] != len(points):
        raise Refused(f"{len(points)} test points, but the plan is {plan}")
    ours = [p["id"] for p in points if not p["ok"] and not p["todo"] and not p["skip"]]
    if final["ok"] != (not ours) or final["fail"] - final["todo"] > len(ours):
        raise Refused(f"failed are {ours}, but the reader reports {final['fail']}, ok {final['ok']}")
    return len(points), len(ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xsd", type=pathlib.Path, required=True)
    parser.add_argument("--tap-parser", required=True)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    try:
        schema = json.loads(SCHEMA.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(
            schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )
        xsd = junit_schema(arguments.xsd)
    except (OSError, jsonschema.SchemaError, xmlschema.XMLSchemaException) as problem:
        print(f"cannot begin: {problem}", file=sys.stderr)
        return 2
    refused = 0
    for folder in arguments.folders:
        counts = {}
        for name, check in (
            ("report.json", lambda path: check_json(path.read_text(), validator)),
            ("report.xml", lambda path: check_junit(path, xsd)),
            ("report.tap", lambda path: check_tap(path, arguments.tap_parser)),
        ):
            try:
                counts[name] = check(folder / name)
                print("accepted {}: {} checks, {} failures".format(folder / name, *counts[name]))
            except OSError as problem:
                print(f"missing {folder / name}: {problem}", file=sys.stderr)
                return 2
            except (Refused, ValueError, ElementTree.ParseError) as problem:
                refused += 1
                print(f"refused {folder / name}: {problem}")
        if len(set(counts.values())) > 1:
            refused += 1
            print(f"refused {folder}: the formats do not agree: {counts}")
    print(f"{len(arguments.folders)} folders, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
