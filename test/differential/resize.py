"""Resizes pods, and compares what both servers make of it and what they refuse. forms.py calls it."""

import json

from validation import refused_or

_POLICY = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
_BURST = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}
_LIMITS = {"limits": {"cpu": "1", "memory": "1Gi"}}
# What the containers of a pod ask for, what else the pod has, and strategic merge patches of its spec.
_OF_ONE = [{"containers": [{"name": "c", "resources": resources}]} for resources in (
    {"requests": {"cpu": "2"}}, {"requests": {"cpu": "3"}}, {"requests": {"cpu": None}}, {"requests": {"memory": None}}, {"limits": {"cpu": None}}, {"limits": {"cpu": "4", "memory": "4Gi"}},
    {"requests": {"cpu": "4", "memory": "4Gi"}}, {"limits": {"cpu": "5"}, "requests": {"cpu": "5"}}, {"limits": {"a.b/c": "1"}}, {"limits": {"ephemeral-storage": "1Gi"}}, {"requests": {"cpu": "-1"}},
    {"requests": {"cpu": "0"}}, None)] + [
    {"containers": [{"name": "c", "resizePolicy": _POLICY}]}, {"containers": [{"name": "c", "image": "other"}]}, {"nodeName": "n", "activeDeadlineSeconds": 5},
    {"containers": [{"name": "d", "image": "i"}]}, {"initContainers": [{"name": "d", "image": "i"}]}, {"resources": {"limits": {"cpu": "9"}}}, {"resources": {"limits": {"cpu": "8"}}},
    {"resources": None}, {"resources": {"limits": {"cpu": None}}}, {"tolerations": [{"key": "a", "operator": "Exists"}]}]
_INIT = {"initContainers": [{"name": "i", "image": "i", "resources": _BURST}, {"name": "s", "image": "i", "restartPolicy": "Always", "resources": _BURST}]}
_OF_INIT = [{"initContainers": [{"name": name, "resources": resources}]} for name in "is" for resources in (
    {"requests": {"cpu": "2"}}, {"requests": {"cpu": None}}, {"limits": {"a.b/c": "1"}}, {"requests": {"memory": "2Gi"}})]
RESIZES = [(resources, {}, _OF_ONE) for resources in ({}, _BURST, _LIMITS, _BURST | {"limits": {"cpu": "2", "a.b/c": "1"}})] + [
    ({}, {"resources": _BURST}, _OF_ONE), (_BURST, {"os": {"name": "windows"}}, _OF_ONE[:1]), (_BURST, _INIT, _OF_INIT)]


def _taken(pod):
    spec = pod["spec"]
    return {"pod": spec.get("resources"), "labels": pod["metadata"].get("labels"), "generation": pod["metadata"].get("generation"), "deadline": spec.get("activeDeadlineSeconds"),
            "containers": [(one["name"], one["image"], one.get("resources"), one.get("resizePolicy")) for one in spec.get("initContainers", []) + spec["containers"]]}


def compare_resize(comparison, namespace):
    path = f"/api/v1/namespaces/{namespace}"
    for side in comparison.sides:
        side.ask("POST", f"{path}/serviceaccounts", {"metadata": {"name": "default"}})
    for resources, rest, patches in RESIZES:
        pod = {"metadata": {"name": "resized"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]} | rest}
        what = f"a pod with {json.dumps(resources)} and {json.dumps(rest)}"
        comparison.both(what, lambda side, b=pod: refused_or(side.ask("POST", f"{path}/pods", b), _taken))
        for patch in patches:
            body = {"metadata": {"labels": {"a": "b"}}, "spec": patch}
            comparison.both(f"{what}, resized with {json.dumps(patch)}", lambda side, b=body: refused_or(
                side.ask("PATCH", f"{path}/pods/resized/resize", b, content_type="application/strategic-merge-patch+json"), _taken))
        for side in comparison.sides:
            side.ask("DELETE", f"{path}/pods/resized?gracePeriodSeconds=0")
