#!/usr/bin/env python3
"""Asks kube-apiserver and kubexx-apiserver for the same objects in every form, and compares what they answer.

Forms are what the header Accept can ask for: tables, metadata alone, JSON and protobuf, with qualities and wildcards. Besides: both
versions of HorizontalPodAutoscalers, the versions that discovery says objects are stored in, what /openapi/v2 says of definitions, what is
published.py's, the tables of tables.py and the rules of rules.py.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "apiserver"))

from classes import compare_classes  # noqa: E402
from forms_cases import ACCEPTS, AUTOSCALERS, PAGED_AS, PATCHES, SCHEMAS, STREAMED, STREAMED_AS, WATCHED_AS, definition  # noqa: E402
from immutable import compare_immutable  # noqa: E402
from metadata import compare_metadata  # noqa: E402
from normalise import Memory, differences  # noqa: E402
from odd_inputs import compare_odd_inputs  # noqa: E402
from pod_defaults import compare_pod_defaults  # noqa: E402
from published import compare_discovery, compare_v3  # noqa: E402
from resize import compare_resize  # noqa: E402
from rules import compare_rules  # noqa: E402
from servers import ApiServer, Client, Target  # noqa: E402
from services import compare_services  # noqa: E402
from tables import compare_tables  # noqa: E402
from validation import compare_validation  # noqa: E402
from wire import envelope, shape, watch_frames  # noqa: E402

PUBLISHED_WITHIN = 240.0  # seconds: kube-apiserver takes its time for it where others want the processor, too
PROTOBUF = "application/vnd.kubernetes.protobuf"
REVIEW = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
REFERENCE = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}


def _known(what, difference):
    """The differences that docs/apiserver.md tells of."""
    path, real, ours = difference
    # An empty list of Go may be null.
    return (real is None and ours == []) or (
        # Reviews have no managers here.
        what.startswith("review as") and (path.startswith(".fields") or path.endswith(".managedFields"))) or (
        # What is in use may be deleted here, nodes are ready when they say so, and nobody counts templates or notes when phases change.
        what.startswith("make /") and path in (".body.metadata.finalizers", ".body.spec.taints", ".body.metadata.annotations", ".body.status.lastPhaseTransitionTime"))


class Side:
    """One of the two servers."""

    def __init__(self, name, target):
        self.name, self._target, self._client, self._memory = name, target, Client(target), Memory()

    def ask(self, method, path, body=None, accept=None, content_type="application/json"):
        return self._client.request(method, path, body, content_type, {"Accept": accept} if accept else None)

    def object(self, method, path, body=None, content_type="application/json"):
        """Code and body, comparable."""
        answer = self.ask(method, path, body, content_type=content_type)
        return {"code": answer.code, "body": self._memory.normal(answer.body)}

    def form(self, method, path, body, accept):
        """What form an answer has, without what the printers of the two servers say in its cells."""
        answer = self.ask(method, path, body, accept)
        content_type = answer.content_type.split(";")[0]
        form = {"code": answer.code, "type": content_type}
        if answer.code >= 400:
            return form | {"reason": answer.body.get("reason")}
        if content_type == PROTOBUF:
            return form | _of_protobuf(answer.raw)
        return form | self._of_json(answer.body)

    def _of_json(self, body):
        if body.get("kind") != "Table":
            return self._memory.normal(body)
        rows = [{"object": self._memory.normal(row["object"]), "first": row["cells"][0]} for row in body["rows"]]
        return {"apiVersion": body["apiVersion"], "columns": body["columnDefinitions"] is not None, "rows": rows}

    def watch(self, path, accept):
        """The forms of the events until the server ends the watch."""
        answer = self.ask("GET", path, accept=accept)
        if answer.code != 200:
            return {"code": answer.code, "reason": answer.body.get("reason")}
        events = []
        if answer.content_type.startswith(PROTOBUF):
            for kind, raw in watch_frames(answer.raw):
                events.append({"event": kind} | _of_protobuf(raw))
        else:
            for line in answer.raw.splitlines():
                event = json.loads(line)
                events.append({"event": event["type"]} | self._of_json(event["object"]))
        return {"code": answer.code, "type": answer.content_type, "events": events}

    def streamed(self, path, accept):
        """The forms of a streamed list's events up to the mark at its end, without versions: that of the mark counts everybody's writes."""
        memory, self._memory = self._memory, Memory()  # Versions of marks count for nothing.
        answer = self.watch(path, accept)
        self._memory = memory
        events = answer.get("events", [])
        last = next((i for i, event in enumerate(events) if event["event"] == "BOOKMARK"), len(events))
        return answer | {"events": _without_versions(events[:last + 1])}

    def until_served(self, path):
        """Returns when there is something."""
        deadline = time.monotonic() + PUBLISHED_WITHIN
        while self.ask("GET", path).code == 404 and time.monotonic() < deadline:
            time.sleep(0.2)

    def close(self):
        self._client.close()


def _of_protobuf(raw):
    api_version, kind, message = envelope(raw)
    return {"apiVersion": api_version, "kind": kind, "fields": shape(message) if "PartialObjectMetadata" in kind else None}


def _without_versions(value):
    if isinstance(value, list):
        return [_without_versions(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_versions(one) for key, one in value.items() if key != "resourceVersion"}


class Comparison:
    """Counts and tells differences."""

    def __init__(self, sides):
        self.sides, self.asked, self.different = sides, 0, 0

    def same(self, what, real, ours):
        self.asked += 1
        found = [one for one in differences(real, ours) if not _known(what, one)]
        if found:
            self.different += 1
            print(f"{what}:")
            for path, one, other in found[:8]:
                print(f"    at {path}\n      {self.sides[0].name}: {one!r}\n      {self.sides[1].name}: {other!r}")

    def both(self, what, ask):
        self.same(what, *(ask(side) for side in self.sides))


def compare_storage(comparison):
    """The hashes that both servers have, of every resource that both have."""
    found = []
    for side in comparison.sides:
        hashes = {}
        groups = side.ask("GET", "/apis").body["groups"]
        paths = ["/api/v1"] + ["/apis/" + version["groupVersion"] for group in groups for version in group["versions"]]
        for path in paths:
            for resource in side.ask("GET", path).body["resources"]:
                hashes[f"{path}/{resource['name']}"] = resource.get("storageVersionHash")
        found.append(hashes)
    shared = found[0].keys() & found[1].keys()
    comparison.same("storageVersionHash", *({name: hashes[name] for name in sorted(shared)} for hashes in found))
    print(f"{len(shared)} resources have the same storageVersionHash, or none" if not comparison.different else "")


def compare_forms(comparison, namespace):
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    comparison.both("make a ConfigMap", lambda side: side.object("POST", maps, {"metadata": {"name": "a", "labels": {"app": "x"}}, "data": {"k": "v"}}))
    selector = "?labelSelector=app%3Dx"
    for accept in ACCEPTS:
        for query in ("", "?includeObject=Object", "?includeObject=None", "?includeObject=wrong"):
            comparison.both(f"get {query} as {accept}", lambda side, q=query, a=accept: side.form("GET", f"{maps}/a{q}", None, a))
        comparison.both(f"list as {accept}", lambda side, a=accept: side.form("GET", maps + selector, None, a))
        comparison.both(f"review as {accept}", lambda side, a=accept: side.form("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", REVIEW, a))
    for accept in WATCHED_AS:
        comparison.both(f"watch as {accept}", lambda side, a=accept: side.watch(maps + selector + "&watch=1&timeoutSeconds=1&resourceVersion=0", a))


    for accept in STREAMED_AS:
        comparison.both(f"streamed list as {accept}", lambda side, a=accept: side.streamed(f"{maps}{selector}&{STREAMED}", a))


def compare_pages(comparison, namespace):
    """A list page by page, in each form of a list."""
    templates = f"/api/v1/namespaces/{namespace}/podtemplates"
    for name in "abc":
        body = {"metadata": {"name": name}, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
        comparison.both(f"make the PodTemplate {name}", lambda side, b=body: side.object("POST", templates, b))

    def pages(side, accept):
        found, token = [], ""
        for limit in ("limit=2", "limit=0"):
            answer = side.ask("GET", f"{templates}?{limit}&continue={token}", accept=accept)
            body, metadata = answer.body, answer.body.get("metadata") or {}
            names = [row["cells"][0] for row in body["rows"]] if "rows" in body else [item["metadata"]["name"] for item in body["items"]]
            token = metadata.get("continue", "")
            found.append((answer.code, names, token != "", metadata.get("remainingItemCount"), body.get("columnDefinitions") is not None))
        return found

    for accept in PAGED_AS:
        comparison.both(f"pages as {accept}", lambda side, a=accept: pages(side, a))


def compare_autoscalers(comparison, namespace):
    def path(version, name=""):
        return f"/apis/autoscaling/{version}/namespaces/{namespace}/horizontalpodautoscalers{name}"

    def read(what, name):
        for version in ("v1", "v2"):
            comparison.both(f"{what}, read in {version}", lambda side, v=version: side.object("GET", path(v, f"/{name}")))

    for number, (version, spec, annotations) in enumerate(AUTOSCALERS):
        name = f"a-{number}"
        body = {"metadata": {"name": name, "annotations": annotations}, "spec": {"scaleTargetRef": REFERENCE, "maxReplicas": 5} | spec}
        comparison.both(f"autoscaler {number} in {version}", lambda side, v=version, b=body: side.object("POST", path(v), b))
        read(f"autoscaler {number}", name)
        for patched, part, patch in PATCHES:
            what = f"autoscaler {number}{part} patched in {patched} with {json.dumps(patch)}"
            comparison.both(what, lambda side, n=name, v=patched, p=part, b=patch: side.object("PATCH", path(v, f"/{n}{p}"), b, "application/merge-patch+json"))
            read(what, name)
    for version in ("v1", "v2"):
        comparison.both(f"autoscalers in {version}", lambda side, v=version: side.object("GET", path(v)))


def published(side, name, wanted):
    """The definition in /openapi/v2, once it is there or gone, without what is said of every object in words."""
    deadline = time.monotonic() + PUBLISHED_WITHIN
    while True:
        found = side.ask("GET", "/openapi/v2").body["definitions"].get(name)
        if (found is not None) == wanted or time.monotonic() > deadline:
            return _without_words(found)
        time.sleep(0.5)


def _without_words(schema):
    """Without the descriptions of what every object has, which each server words itself."""
    if isinstance(schema, list):
        return [_without_words(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _without_words(value) for key, value in schema.items()}
    properties = plain.get("properties", {})
    for member in ("apiVersion", "kind", "metadata"):
        if isinstance(properties.get(member), dict):
            properties[member].pop("description", None)
    return plain


def compare_openapi(comparison, tag):
    group = f"forms-{tag}.example.com"
    prefix = ".".join(reversed(group.split("."))) + ".v1."
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for number, schema in enumerate(SCHEMAS):
        kind = f"Thing{number}"
        for side in comparison.sides:
            answer = side.ask("POST", crds, definition(group, kind, schema))
            assert answer.code == 201, answer.body
        comparison.both(f"the published schema of {json.dumps(schema)}", lambda side, k=kind: published(side, prefix + k, True))
    for number in range(len(SCHEMAS)):
        for side in comparison.sides:
            answer = side.ask("DELETE", f"{crds}/thing{number}s.{group}")
            assert answer.code == 200, answer.body
        comparison.both("a schema that is gone", lambda side, n=number: published(side, f"{prefix}Thing{n}", False))
    compare_builtin(comparison)


def compare_builtin(comparison):
    """The members of the built-in types that both servers have."""
    found = [side.ask("GET", "/openapi/v2").body["definitions"] for side in comparison.sides]
    ours = {name for name in found[1] if "x-kubernetes-group-version-kind" in found[1][name]}
    comparison.same("types that are nowhere else", [], sorted(ours - found[0].keys()))
    for name in sorted(found[0].keys() & found[1].keys()):
        comparison.same(f"the members of {name}", *(sorted(definitions[name].get("properties", {})) for definitions in found))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", default=os.environ.get("KUBEXX_TEST_KUBECONFIG"), help="kubeconfig of a kube-apiserver")
    options = parser.parse_args()
    if not options.real:
        sys.exit("forms.py: no kube-apiserver: give --real, or run it with: hack/test --integration -R forms_differential")
    with tempfile.TemporaryDirectory() as folder:
        server = ApiServer(folder, "--enable-admission-plugins", "ServiceAccount")
        server.start()
        sides = [Side("kube-apiserver", Target(options.real)), Side("kubexx-apiserver", Target(str(server.kubeconfig)))]
        comparison = Comparison(sides)
        try:
            tag = format(int(time.time()), "x")
            for side in sides:
                side.ask("POST", "/api/v1/namespaces", {"metadata": {"name": f"forms-{tag}"}})
            compare_storage(comparison)
            compare_discovery(comparison)
            compare_v3(comparison)
            compare_forms(comparison, f"forms-{tag}")
            compare_pages(comparison, f"forms-{tag}")
            compare_tables(comparison, f"forms-{tag}", tag)
            compare_autoscalers(comparison, f"forms-{tag}")
            compare_openapi(comparison, tag)
            compare_rules(comparison, f"forms-{tag}", tag)
            compare_immutable(comparison, f"forms-{tag}", tag)
            compare_metadata(comparison, f"forms-{tag}")
            compare_validation(comparison, f"forms-{tag}")
            compare_odd_inputs(comparison, f"forms-{tag}")
            compare_pod_defaults(comparison, f"forms-{tag}")
            compare_services(comparison, f"forms-{tag}")
            compare_resize(comparison, f"forms-{tag}")
            compare_classes(comparison, f"forms-{tag}", f"forms-{tag}")
        finally:
            for side in sides:
                side.close()
            server.kill()
    print(f"{comparison.asked} comparisons, {comparison.different} differences")
    return 1 if comparison.different else 0


if __name__ == "__main__":
    sys.exit(main())
