#!/usr/bin/env python3
"""Checks what the chart's Chart.yaml tells Artifact Hub, in the form in which Artifact Hub reads it, against the chart.

  chart_metadata.py CHART [EXAMPLES]   EXAMPLES: a file to which the examples of custom resources are written, for the API server to check
"""
import json
import pathlib
import sys

import yaml

CATEGORIES = {"ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking", "security", "storage", "streaming-messaging"}
CHANGES = {"added", "changed", "deprecated", "removed", "fixed", "security"}
KNOWN = {"category", "license", "operator", "prerelease", "images", "crds", "crdsExamples", "changes"}
PREFIX = "artifacthub.io/"


def complaints_about(chart):
    """What is wrong, in sentences."""
    about = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    values = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    annotations = {key[len(PREFIX):]: value for key, value in about["annotations"].items() if key.startswith(PREFIX)}
    for key, value in about["annotations"].items():
        if not isinstance(value, str):
            yield f"the annotation {key} is no text"
    if set(annotations) != KNOWN:
        yield f"annotations of Artifact Hub are missing or not known: {sorted(set(annotations) ^ KNOWN)}"
        return
    if annotations["category"] not in CATEGORIES:
        yield f"there is no category {annotations['category']}"
    licence = (chart / "../../LICENSE").resolve().read_text(encoding="utf-8")
    if annotations["license"] != "Apache-2.0" or "Apache License" not in licence:
        yield "the licence is not that of the file LICENSE"
    if (annotations["prerelease"] == "true") != about["version"].startswith("0."):
        yield "a version before 1.0.0 is a prerelease, and no other"
    wanted = f"{values['image']['repository']}:{about['appVersion']}"
    if [image["image"] for image in yaml.safe_load(annotations["images"])] != [wanted]:
        yield f"the image is {wanted} by the chart"
    crds = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted((chart / "crds").glob("*.yaml"))]
    defined = {(crd["spec"]["names"]["kind"], version["name"], crd["metadata"]["name"]) for crd in crds for version in crd["spec"]["versions"]}
    told = {(crd["kind"], crd["version"], crd["name"]) for crd in yaml.safe_load(annotations["crds"])}
    if told != defined:
        yield f"the CRDs are {sorted(defined)} by the chart, and {sorted(told)} by the annotation"
    for crd in yaml.safe_load(annotations["crds"]):
        if not crd.get("displayName") or not crd.get("description"):
            yield f"the CRD {crd['name']} has no name to be displayed, or no description"
    shown = {example["kind"] for example in yaml.safe_load(annotations["crdsExamples"])}
    if shown != {kind for kind, _, _ in defined}:
        yield f"there are examples of {sorted(shown)}"
    for change in yaml.safe_load(annotations["changes"]):
        if change.get("kind") not in CHANGES or not change.get("description"):
            yield f"this is no change: {change}"


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    chart = pathlib.Path(arguments[0])
    complaints = list(complaints_about(chart))
    for complaint in complaints:
        print(f"Chart.yaml: {complaint}", file=sys.stderr)
    if len(arguments) == 2:
        about = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
        examples = yaml.safe_load(about["annotations"][PREFIX + "crdsExamples"])
        pathlib.Path(arguments[1]).write_text("\n---\n".join(json.dumps(example) for example in examples), encoding="utf-8")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
