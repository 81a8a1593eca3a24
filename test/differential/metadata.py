"""Writes metadata that is the server's, and labels that are none, and compares what becomes of them. forms.py calls it."""

_TIME = "2020-01-01T00:00:00Z"
_POD = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
_TYPES = [("v1", "ConfigMap", "configmaps", {}, ("",)),
          ("apps/v1", "Deployment", "deployments", {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": _POD}}, ("", "/status", "/scale"))]
_CHANGES = [{"deletionTimestamp": _TIME}, {"deletionTimestamp": None}, {"deletionGracePeriodSeconds": 3}, {"uid": "x-y"}, {"uid": None},
            {"creationTimestamp": _TIME}, {"creationTimestamp": None}, {"generation": 7}, {"selfLink": "/a"}, {"generateName": "g-"}, {"name": "other"},
            {"namespace": "other"}, {"resourceVersion": "1"}, {"resourceVersion": None}]
_PATCHES = {"merge-patch+json": lambda change: {"metadata": change}, "strategic-merge-patch+json": lambda change: {"metadata": change},
            "json-patch+json": lambda change: [{"op": "add", "path": f"/metadata/{key}", "value": value} for key, value in change.items()]}
_KEYS = ["a b", "", "/a", "a/", "A.b/c", "-a/c", "a/b/c", "a" * 64, "b." * 130 + "c/d", "-k", "k_", "x/" + "y" * 64, "\u00fc", "\u00e9/a", "a.b/c"]
_VALUES = ["a b", "-a", "a" * 64, "\u00e4", "", "A_b.c-d"]
_FINALIZERS = [["a b"], ["orphan/"], ["x"], ["a/b/c"], ["orphan", "foregroundDeletion"], ["orphan"], ["a.b/c"]]


def _written(answer):
    """What an answer has of the metadata, or which fields are refused and how."""
    if answer.code >= 400:
        details = answer.body.get("details") or {}
        return {"code": answer.code, "reason": answer.body.get("reason"),
                "causes": sorted({(one.get("reason"), one.get("field")) for one in details.get("causes") or []})}
    metadata = answer.body["metadata"]
    return {"code": answer.code, "metadata": {key: metadata.get(key) for key in ("name", "generateName", "selfLink", "generation", "deletionTimestamp")},
            "old": metadata["creationTimestamp"] == _TIME}


def _replaced(side, path, change):
    """A PUT of what there is, with a change."""
    body = side.ask("GET", path).body
    body["metadata"].pop("managedFields", None)
    body["metadata"].update(change)
    return _written(side.ask("PUT", path, body))


def compare_metadata(comparison, namespace):
    number = 0
    for version, kind, plural, body, parts in _TYPES:
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        path = f"{root}/namespaces/{namespace}/{plural}"
        for part in parts:
            for change in _CHANGES:
                number += 1
                place = f"{path}/metadata-{number}{part}"
                for side in comparison.sides:
                    side.ask("POST", path, {"apiVersion": version, "kind": kind, "metadata": {"name": f"metadata-{number}"}} | body)
                comparison.both(f"{plural}{part} replaced with {change}", lambda side, p=place, c=change: _replaced(side, p, c))
                for form, patch in _PATCHES.items():
                    comparison.both(f"{plural}{part} with {change} by {form}", lambda side, p=place, f=form, b=patch(change): _written(
                        side.ask("PATCH", p, b, content_type=f"application/{f}")))
    _compare_words(comparison, f"/api/v1/namespaces/{namespace}/configmaps?dryRun=All")


def _compare_words(comparison, path):
    for member in ("labels", "annotations"):
        for key, value in [(key, "x") for key in _KEYS] + [("k", value) for value in _VALUES]:
            body = {"metadata": {"name": "a", member: {key: value}}}
            comparison.both(f"{member} {key!r}: {value!r}", lambda side, b=body: _written(side.ask("POST", path, b)))
    for finalizers in _FINALIZERS:
        body = {"metadata": {"name": "a", "finalizers": finalizers}}
        comparison.both(f"finalizers {finalizers}", lambda side, b=body: _written(side.ask("POST", path, b)))
