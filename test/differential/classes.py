"""Makes what has classes (claims, Ingresses, pods with a RuntimeClass), and compares what both servers make of it and what they refuse.
forms.py calls it."""

import json
import time

from validation import refused_or

_STORAGE, _ROUTES, _RUNTIMES = "/apis/storage.k8s.io/v1/storageclasses", "/apis/networking.k8s.io/v1/ingressclasses", "/apis/node.k8s.io/v1/runtimeclasses"
_STORAGE_MARK, _ROUTE_MARK = "storageclass.kubernetes.io/is-default-class", "ingressclass.kubernetes.io/is-default-class"
_BETA_CLASS = {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}
# Metadata and spec of claims and Ingresses that say something of their class, or nothing.
CLAIMS = [({}, {}), ({}, {"storageClassName": ""}), ({}, {"storageClassName": "x"}), (_BETA_CLASS, {})]
INGRESSES = [({}, {}), ({}, {"ingressClassName": "x"}), ({"annotations": {"kubernetes.io/ingress.class": "x"}}, {})]
RUNTIMES = {
    "plain": {}, "heavy": {"overhead": {"podFixed": {"cpu": "250m", "memory": "1Gi"}}}, "empty": {"overhead": {}},
    "there": {"scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [
        {"key": "a", "operator": "Exists", "effect": "NoSchedule"}, {"key": "b", "operator": "Equal", "value": "c"},
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]}},
}
_TOLERATIONS = [
    [{"operator": "Exists"}], [{"key": "a", "operator": "Exists"}], [{"key": "a", "operator": "Exists", "effect": "NoExecute"}],
    [{"key": "b", "value": "c"}], [{"key": "b", "operator": "Equal", "value": "c", "effect": "NoSchedule"}], [{"key": "b", "operator": "Equal", "value": "d"}],
    [{"key": "a", "operator": "Equal", "value": "x", "effect": "NoSchedule"}], [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
    [{"key": "b", "operator": "Exists"}], [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}],
    [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]]
# Parts of the spec of pods. An empty name of a class is an error of kube-apiserver's own (500).
PODS = [{"runtimeClassName": name} for name in ("none", *RUNTIMES)] + [
    {"runtimeClassName": name, "overhead": overhead} for name in (None, "plain", "heavy", "empty")
    for overhead in ({}, {"cpu": "0.25", "memory": "1024Mi"}, {"cpu": "1"})
    if overhead or name in ("heavy", "empty")] + [  # An empty overhead is none here, as docs/apiserver.md says of empty lists.
    {"runtimeClassName": "there", "nodeSelector": selector} for selector in ({}, {"a": "b"}, {"a": "c"}, {"c": "d"}, {"a": ""})] + [
    {"runtimeClassName": "there", "tolerations": tolerations} for tolerations in _TOLERATIONS]
# Sizes that claims of these classes get, and whether they are bound.
GROWTH = [(name, bound, size) for name in ("grows", "stays", "unknown", "") for bound in (True, False) for size in ("1Gi", "1024Mi", "2Gi", "512Mi")]


def _class_of(answer):
    """Why it is refused, or its class."""
    return refused_or(answer, lambda body: {"class": {name: value for name, value in body["spec"].items() if name in ("storageClassName", "ingressClassName")},
                                            "annotations": body["metadata"].get("annotations")})


def _told(answer, wanted):
    """The whole text of a refusal by the admission, besides."""
    return refused_or(answer, wanted) | {"message": answer.body["message"] if answer.code == 403 else None}


def _claim(meta, spec):
    return {"metadata": {"name": "classed"} | meta, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}} | spec}


def _ingress(meta, spec):
    return {"metadata": {"name": "classed"} | meta, "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}} | spec}


def _make(comparison, path, name, rest, annotations=None):
    body = {"metadata": {"name": name, "annotations": annotations or {}}} | rest
    comparison.both(f"make the class {name}", lambda side: side.ask("POST", path, body).code)


def _compare_made(comparison, what, namespace):
    for kind, path, bodies in (
            ("claim", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims", [_claim(*one) for one in CLAIMS]),
            ("Ingress", f"/apis/networking.k8s.io/v1/namespaces/{namespace}/ingresses", [_ingress(*one) for one in INGRESSES])):
        for body in bodies:
            comparison.both(f"a {kind} {what}: {json.dumps(body)}", lambda side, p=path, b=body: _class_of(side.ask("POST", p + "?dryRun=All", b)))


def _compare_defaults(comparison, namespace, tag):
    _compare_made(comparison, "without a default", namespace)
    for round_, names in enumerate((["m"], ["z", "y"], ["a"])):
        for name in names:
            # Another server's class of the same second would be the first or not.
            _make(comparison, _STORAGE, f"{tag}-{name}", {"provisioner": "example.com/p"}, {_STORAGE_MARK: "true"})
            _make(comparison, _ROUTES, f"{tag}-{name}", {"spec": {"controller": "example.com/c"}}, {_ROUTE_MARK: "true"})
            time.sleep(1.1)
        _compare_made(comparison, f"with defaults, round {round_}", namespace)


def _compare_growth(comparison, namespace, tag):
    for name, allows in (("grows", True), ("stays", False)):
        _make(comparison, _STORAGE, f"{tag}-{name}", {"provisioner": "example.com/p", "allowVolumeExpansion": allows})
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    for number, (name, bound, size) in enumerate(GROWTH):
        own = f"{path}/grown-{number}"
        claim = _claim({"name": f"grown-{number}"}, {"storageClassName": name and f"{tag}-{name}", "volumeName": "v"})
        status = {"status": {"phase": "Bound" if bound else "Pending", "capacity": {"storage": "1Gi"}}}
        for side in comparison.sides:
            side.ask("POST", path, claim)
            side.ask("PATCH", own + "/status", status, content_type="application/merge-patch+json")
        body = {"spec": {"resources": {"requests": {"storage": size}}}}
        comparison.both(f"a claim of {name!r}, bound {bound}, gets {size}", lambda side, o=own, b=body: _told(
            side.ask("PATCH", o, b, content_type="application/merge-patch+json"), lambda made: made["spec"]["resources"]))
        for side in comparison.sides:
            side.ask("DELETE", own)


def _compare_runtimes(comparison, namespace, tag):
    for name, rest in RUNTIMES.items():
        _make(comparison, _RUNTIMES, f"{tag}-{name}", {"handler": "h"} | rest)
    time.sleep(1.1)
    for part in PODS:
        spec = {"containers": [{"name": "c", "image": "i"}]} | {key: value for key, value in part.items() if value is not None}
        if spec.get("runtimeClassName"):
            spec["runtimeClassName"] = f"{tag}-{spec['runtimeClassName']}"
        pod = {"metadata": {"name": "classed"}, "spec": spec}
        comparison.both(f"a pod with {json.dumps(part)}", lambda side, b=pod: _told(
            side.ask("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", b),
            lambda made: {key: made["spec"].get(key) for key in ("overhead", "nodeSelector", "tolerations", "runtimeClassName")}))


def compare_classes(comparison, namespace, tag):
    """In a namespace that is there, with the account "default"."""
    for side in comparison.sides:
        side.ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    try:
        _compare_defaults(comparison, namespace, tag)
        _compare_growth(comparison, namespace, tag)
        _compare_runtimes(comparison, namespace, tag)
    finally:  # Other tests use the same kube-apiserver.
        for side in comparison.sides:
            for path in (_STORAGE, _ROUTES, _RUNTIMES):
                for one in side.ask("GET", path).body["items"]:
                    if one["metadata"]["name"].startswith(f"{tag}-"):
                        side.ask("DELETE", f"{path}/{one['metadata']['name']}")
