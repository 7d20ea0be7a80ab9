#!/usr/bin/env python3
"""Shows reports of the kit to other projects' readers.

Each folder has report.json, report.yaml and report.xml, of the same run. The JSON and the YAML are
held against the published schemas, the JUnit XML against Jenkins' schema as pytest keeps it (junit-10.xsd, in its source
distribution); and all have to tell of the same number of checks and of failures.

    check.py --xsd FILE|SDIST FOLDER...

Exit code 1 where something is refused, 2 where a reader or a file is missing.
"""

import argparse
import json
import pathlib
import sys
import tarfile
import xml.etree.ElementTree as ElementTree

try:
    import jsonschema
    import xmlschema
    import yaml
except ImportError as problem:
    sys.exit(print(f"{problem}: pip install -r requirements.txt", file=sys.stderr) or 2)

SCHEMAS = pathlib.Path(__file__).parent.parent / "schema"


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


def validator(name):
    """Of one of the published schemas."""
    schema = json.loads((SCHEMAS / name).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(schema, format_checker=checker)


def check_schema(report, validator):
    errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(report)]
    if errors:
        raise Refused("; ".join(errors[:5]))


def check_json(text, validator):
    """Counts (checks, unexpected failures)."""
    report = json.loads(text)
    check_schema(report, validator)
    results = report["results"]
    failed = [r for r in results if r["status"] == "failed" and r["level"] == "MUST" and "known" not in r]
    return len(results), len(failed)


def check_yaml(text, validator):
    report = yaml.safe_load(text)
    check_schema(report, validator)
    return len(report["results"]), report["summary"]["failedMust"]


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xsd", type=pathlib.Path, required=True)
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    try:
        of_json, of_yaml = validator("report.schema.json"), validator("conformance-report.schema.json")
        xsd = junit_schema(arguments.xsd)
    except (OSError, jsonschema.SchemaError, xmlschema.XMLSchemaException) as problem:
        print(f"cannot begin: {problem}", file=sys.stderr)
        return 2
    refused = 0
    for folder in arguments.folders:
        counts = {}
        for name, check in (
            ("report.json", lambda path: check_json(path.read_text(), of_json)),
            ("report.yaml", lambda path: check_yaml(path.read_text(), of_yaml)),
            ("report.xml", lambda path: check_junit(path, xsd)),
        ):
            try:
                counts[name] = check(folder / name)
                print("accepted {}: {} checks, {} failures".format(folder / name, *counts[name]))
            except OSError as problem:
                print(f"missing {folder / name}: {problem}", file=sys.stderr)
                return 2
            except (Refused, ValueError, yaml.YAMLError, ElementTree.ParseError) as problem:
                refused += 1
                print(f"refused {folder / name}: {problem}")
        if len(set(counts.values())) > 1:
            refused += 1
            print(f"refused {folder}: the formats do not agree: {counts}")
    print(f"{len(arguments.folders)} folders, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
