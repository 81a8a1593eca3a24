"""Asks both servers for what the rules of single types and verbs decide: names, pages of deletions, warnings of deprecated versions, what
pods get, fields that come twice, finalizers of namespaces, timeouts, kinds of custom resources, and fields that these can be selected by.
forms.py calls it."""

import base64
import json
import re
import subprocess

# Of CertificateSigningRequests, and of IPAddresses.
REQUEST_NAMES = ["node-csr-Ab_c", "user:Jane Doe", "with.dots", ".", "..", "a%b"]
ADDRESSES = ["10.96.200.1", "2001:db8::1", "::1", "fd00::", "1:0:2:3:4:5:6:7", "::102:304", "2001:db8::1:0:0:1", "a", "10.0.0", "10.0.0.01",
             "2001:DB8::1", "2001:db8:0:0:0:0:0:1", "::01", "2001:0db8::1", "1::2:3:4:5:6:7", "::1.2.3.4", "::ffff:1.2.3.4", "10.0.0.0/8", "[::1]"]

_NOT_READY, _UNREACHABLE = ({"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7}
                            for taint in ("not-ready", "unreachable"))
TOLERATIONS = [
    None, [], [{"key": "a", "operator": "Exists"}], [_NOT_READY], [_UNREACHABLE], [_NOT_READY, _UNREACHABLE], [{"operator": "Exists"}],
    [{"operator": "Exists", "effect": "NoExecute"}], [{"operator": "Exists", "effect": "NoSchedule"}],
    [{"key": _UNREACHABLE["key"], "operator": "Exists"}], [{"key": _UNREACHABLE["key"], "operator": "Exists", "effect": "NoSchedule"}],
    [{"key": _NOT_READY["key"], "operator": "Equal", "value": "x", "effect": "NoExecute"}],
]

_GEAR = {"type": "object", "properties": {"spec": {"type": "object", "properties": {
    "color": {"type": "string"}, "teeth": {"type": "integer"}, "on": {"type": "boolean"}, "size": {"type": "number"},
    "list": {"type": "array", "items": {"type": "string"}}}}}}
# When all versions have one schema kube-apiserver takes no selectableFields of one of them.
VERSIONS = [{"name": "v1", "storage": True, "schema": {"openAPIV3Schema": _GEAR | {"description": "Gear"}},
             "selectableFields": [{"jsonPath": f".spec.{name}"} for name in ("color", "teeth", "on")]},
            {"name": "v1beta1", "deprecated": True}, {"name": "v1alpha1", "deprecated": True, "deprecationWarning": 'it "was" a try'},
            {"name": "v2", "served": False}]
# Members of the first version of a definition that are refused, or not.
VERSION_FIELDS = [
    {"deprecationWarning": "x"}, {"deprecated": True, "deprecationWarning": ""}, {"deprecated": True, "deprecationWarning": "a\nb"},
    {"deprecated": True, "deprecationWarning": "x" * 257}, {"deprecated": True, "deprecationWarning": "x" * 256},
] + [{"selectableFields": [{"jsonPath": path} for path in paths]} for paths in (
    [""], ["spec.color"], [".spec.size"], [".spec.list"], [".spec.list[0]"], [".spec"], [".spec.other"], [".metadata.name"], [".spec.color", ".spec.color"])]
# What is done to a definition with the versions v1, which is stored, and v2: the names of its versions with the stored one first, or what its
# status is to say of them.
STORED = [("", ["v2", "v1"]), ("", ["v2"]), ("/status", ["v2", "gone"]), ("", ["v2"]), ("/status", ["v2"]), ("", ["v2"]), ("/status", []), ("", ["v2"])]
SELECTORS = ["spec.color=red", "spec.color!=red", "spec.teeth=8", "spec.teeth=8,spec.on=false", "spec.color=", "spec.on=true,metadata.name=red", "spec.size=1",
             ".spec.color=red", "metadata.namespace=x"]


def _outcome(side, method, path, body=None, content_type="application/json"):
    """Code, reason and warnings."""
    answer = side.ask(method, path, body, content_type=content_type)
    reason = answer.body.get("reason") if answer.code >= 400 and isinstance(answer.body, dict) else None
    return {"code": answer.code, "reason": reason, "warnings": answer.warnings}


def _told(side, method, path, body, content_type):
    """Code, warnings, and what an error says."""
    answer = side.ask(method, path, body, content_type=content_type)
    message = answer.body.get("message") if answer.code >= 400 and isinstance(answer.body, dict) else None
    return {"code": answer.code, "message": message, "warnings": answer.warnings}


def _definition(group, versions):
    spec = {"group": group, "scope": "Namespaced", "names": {"plural": "gears", "kind": "Gear"},
            "versions": [{"served": True, "storage": False, "schema": {"openAPIV3Schema": _GEAR}} | version for version in versions]}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"gears.{group}"}, "spec": spec}


def _names_of(answer):
    return [item["metadata"]["name"] for item in answer.body.get("items") or []]


def compare_names(comparison, tag):
    request = subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null",
                              "-subj", "/CN=jane"], check=True, capture_output=True).stdout
    spec = {"signerName": "example.com/x", "usages": ["client auth"], "request": base64.b64encode(request).decode()}
    requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    for name in REQUEST_NAMES:
        body = {"metadata": {"name": name, "labels": {"tag": tag}}, "spec": spec}
        comparison.both(f"a CertificateSigningRequest {name!r}", lambda side, b=body: _outcome(side, "POST", requests, b))
    for side in comparison.sides:
        side.ask("DELETE", f"{requests}?labelSelector=tag%3D{tag}")
    for name in ADDRESSES:
        body = {"metadata": {"name": name}, "spec": {"parentRef": {"resource": "services", "namespace": "default", "name": tag}}}
        path = "/apis/networking.k8s.io/v1/ipaddresses"
        comparison.both(f"an IPAddress {name!r}", lambda side, p=path, b=body: _outcome(side, "POST", p, b))
        for side in comparison.sides:
            side.ask("DELETE", f"{path}/{name}")


def compare_collections(comparison, namespace):
    maps = f"/api/v1/namespaces/{namespace}/configmaps"

    def deleted(side):
        for name in "abcde":
            side.ask("POST", maps, {"metadata": {"name": name, "labels": {"page": "yes"}}})
        pages, token = [], ""
        for limit in (2, 2, 0):
            answer = side.ask("DELETE", f"{maps}?labelSelector=page%3Dyes&limit={limit}&continue={token}")
            metadata = answer.body.get("metadata") or {}
            token = metadata.get("continue", "")
            pages.append((answer.code, _names_of(answer), token != ""))
        return pages + [_names_of(side.ask("GET", f"{maps}?labelSelector=page%3Dyes"))]

    comparison.both("a collection that is deleted page by page", deleted)
    for query in ("continue=garbage", "resourceVersionMatch=Exact", "resourceVersion=x&labelSelector=none%3Dx", "limit=1&resourceVersion=0&labelSelector=none%3Dx"):
        comparison.both(f"a collection by {query}", lambda side, q=query: _outcome(side, "DELETE", f"{maps}?{q}"))


def compare_pods(comparison, namespace):
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for side in comparison.sides:
        # Where somebody wants it.
        side.ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    for number, tolerations in enumerate(TOLERATIONS):
        spec = {"containers": [{"name": "c", "image": "i"}], "tolerations": tolerations}
        body = {"metadata": {"name": f"p{number}"}, "spec": spec}
        comparison.both(f"the tolerations of a pod with {tolerations}", lambda side, b=body: side.ask("POST", pods, b).body["spec"].get("tolerations"))
    for name in (None, "", "other"):
        metadata = {} if name is None else {"name": name}
        for part, rest in (("binding", {"target": {"kind": "Node", "name": "n"}}), ("eviction", {})):
            body = {"metadata": metadata} | rest
            comparison.both(f"a {part} of {name!r}", lambda side, p=part, b=body: _outcome(side, "POST", f"{pods}/p0/{p}", b))
    for side in comparison.sides:
        side.ask("DELETE", pods, {"gracePeriodSeconds": 0})


def _account_of(side, path, body):
    """What a new pod has of its service account."""
    spec = side.ask("POST", f"{path}?dryRun=All", body).body.get("spec") or {}
    own = {member: spec.get(member) for member in ("serviceAccountName", "serviceAccount", "imagePullSecrets", "volumes")}
    mounts = {kind: [one.get("volumeMounts") for one in spec.get(kind) or []] for kind in ("containers", "initContainers")}
    return json.loads(re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access", json.dumps(own | mounts)))


def compare_accounts(comparison, namespace):
    """The accounts of pods and their tokens."""
    accounts, pods = f"/api/v1/namespaces/{namespace}/serviceaccounts", f"/api/v1/namespaces/{namespace}/pods"
    for side in comparison.sides:
        side.ask("POST", accounts, {"metadata": {"name": "default"}})
        side.ask("POST", accounts, {"metadata": {"name": "puller"}, "imagePullSecrets": [{"name": "s"}]})
        side.ask("POST", accounts, {"metadata": {"name": "quiet"}, "automountServiceAccountToken": False})
    mount = {"name": "own", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    for spec in ({}, {"serviceAccountName": "puller"}, {"serviceAccount": "puller"}, {"serviceAccountName": "quiet"}, {"serviceAccountName": "missing"},
                 {"serviceAccountName": "quiet", "automountServiceAccountToken": True}, {"automountServiceAccountToken": False},
                 {"serviceAccountName": "puller", "imagePullSecrets": [{"name": "mine"}]}, {"initContainers": [{"name": "i", "image": "i"}]},
                 {"volumes": [{"name": "own", "emptyDir": {}}], "containers": [{"name": "c", "image": "i", "volumeMounts": [mount]}, {"name": "d", "image": "i"}]}):
        body = {"metadata": {"name": "of-account"}, "spec": {"containers": [{"name": "c", "image": "i"}]} | spec}
        comparison.both(f"the account of a pod with {spec}", lambda side, b=body: _account_of(side, pods, b))
        comparison.both(f"a pod with {spec}", lambda side, b=body: _outcome(side, "POST", f"{pods}?dryRun=All", b))


def compare_duplicates(comparison, namespace, tag):
    """Fields that come twice, of a built-in type and of one that takes any field."""
    group = f"twice-{tag}.example.com"
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    version = {"name": "v1", "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    for side in comparison.sides:
        assert side.ask("POST", crds, _definition(group, [version])).code == 201
        side.until_served(f"/apis/{group}/v1/gears")
    for api_version, kind, resource in (("v1", "ConfigMap", "/api/v1/namespaces/{}/configmaps"), (f"{group}/v1", "Gear", f"/apis/{group}/v1/namespaces/{{}}/gears")):
        path = resource.format(namespace)
        yaml = f"\napiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: twice\ndata:\n  a: one\n  a: two\n  b: x\nodd: 1\n"
        text = f'{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"twice"}},"data":{{"a":"one","a":"two"}},"odd":1}}'
        for validation in ("Strict", "Warn", "Ignore"):
            query = f"dryRun=All&fieldManager=m&fieldValidation={validation}"
            for method, place, body, content_type in (("POST", "", yaml, "application/yaml"), ("POST", "", text, "application/json"),
                                                      ("PATCH", "/twice", yaml.replace("odd: 1\n", ""), "application/apply-patch+yaml"),
                                                      ("PATCH", "/twice", text.replace(',"odd":1', ""), "application/apply-patch+yaml")):
                what = f"{kind}, {validation}, {method} of {body!r}"
                comparison.both(what, lambda side, m=method, p=f"{path}{place}?{query}", b=body, t=content_type: _told(side, m, p, b, t))
    for side in comparison.sides:
        side.ask("DELETE", f"{crds}/gears.{group}")


def compare_finalize(comparison, tag):
    """The finalizers of a namespace's spec."""
    place = f"/api/v1/namespaces/finalize-{tag}"
    for side in comparison.sides:
        side.ask("POST", "/api/v1/namespaces", {"metadata": {"name": f"finalize-{tag}"}})

    def finalized(side, finalizers):
        named = side.ask("GET", place).body
        named["spec"]["finalizers"], named["status"]["phase"], named["metadata"]["labels"] = finalizers, "Terminating", {"a": "b"}
        outcome = _outcome(side, "PUT", f"{place}/finalize", named)
        now = side.ask("GET", place).body
        return outcome, now["spec"], now["status"], now["metadata"].get("labels")

    for finalizers in (["kubernetes", "example.com/f"], ["kubernetes", "mine"], ["a_b/c"], []):
        comparison.both(f"finalizers {finalizers}", lambda side, f=finalizers: finalized(side, f))
    for method, body in (("GET", None), ("PATCH", {}), ("POST", {}), ("DELETE", None)):
        comparison.both(f"{method} of finalize", lambda side, m=method, b=body: _outcome(side, m, f"{place}/finalize", b, "application/merge-patch+json"))
    # The first deletion leaves the rest to a controller, which deletes a second time.
    comparison.both("deletion without finalizers", lambda side: [side.ask(method, place).code for method in ("DELETE", "DELETE", "GET")][2])


def compare_timeouts(comparison, namespace):
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    for timeout in ("invalid", "5", "5x", "1m5", ".s", "1.5s", "0s", "0", "24h", ""):
        for query in ("", "&watch=1&timeoutSeconds=1"):
            comparison.both(f"timeout={timeout}{query}", lambda side, q=f"timeout={timeout}{query}": _told(side, "GET", f"{maps}?{q}", None, None))


def compare_deprecations(comparison, namespace):
    for path in (f"/api/v1/namespaces/{namespace}/endpoints", "/api/v1/endpoints?limit=1", f"/api/v1/namespaces/{namespace}/endpoints/missing",
                 "/api/v1/componentstatuses", f"/api/v1/namespaces/{namespace}/configmaps"):
        comparison.both(f"warnings of {path}", lambda side, p=path: _outcome(side, "GET", p))


def compare_definitions(comparison, namespace, tag):
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for fields in VERSION_FIELDS:
        body = _definition(f"bad-{tag}.example.com", [{"name": "v1", "storage": True} | fields])
        comparison.both(f"a version with {json.dumps(fields)[:80]}", lambda side, b=body: _outcome(side, "POST", f"{crds}?dryRun=All", b))
    group = f"rules-{tag}.example.com"
    for side in comparison.sides:
        made = side.ask("POST", crds, _definition(group, VERSIONS))
        assert made.code == 201, made.body
        side.until_served(f"/apis/{group}/v1/gears")
    _compare_gears(comparison, f"/apis/{group}", namespace)
    for side in comparison.sides:
        side.ask("DELETE", f"{crds}/gears.{group}")


def compare_stored_versions(comparison, tag):
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    group = f"stored-{tag}.example.com"
    for side in comparison.sides:
        assert side.ask("POST", crds, _definition(group, [{"name": "v1", "storage": True}, {"name": "v2"}])).code == 201
        side.until_served(f"/apis/{group}/v1/gears")
    for part, names in STORED:
        spec = {"versions": [{"name": name, "served": True, "storage": name == names[0], "schema": {"openAPIV3Schema": _GEAR}} for name in names]}
        body = {"status": {"storedVersions": names}} if part else {"spec": spec}

        def changed(side, part=part, body=body):
            answer = side.ask("PATCH", f"{crds}/gears.{group}{part}", body, content_type="application/merge-patch+json")
            return answer.code, side.ask("GET", f"{crds}/gears.{group}").body["status"].get("storedVersions")

        comparison.both(f"versions {names} {part}", changed)
    for side in comparison.sides:
        side.ask("DELETE", f"{crds}/gears.{group}")


def compare_missing_namespace(comparison):
    place = "/api/v1/namespaces/nowhere"
    role = {"metadata": {"name": "r"}, "rules": [{"verbs": ["get"]}]}
    for path, body in ((f"{place}/configmaps", {}), (f"{place}/configmaps", {"metadata": {"name": "Not A Name"}}), (f"{place}/pods", {"metadata": {"name": "p"}}),
                       ("/apis/rbac.authorization.k8s.io/v1/namespaces/nowhere/roles", role), (f"{place}/pods/p/eviction", {"metadata": {"name": "p"}}),
                       (f"{place}/serviceaccounts/s/token", {"spec": {}}), (f"{place}/configmaps", {"metadata": {"name": "a", "namespace": "default"}})):
        comparison.both(f"{path} with {body}", lambda side, p=path, b=body: _outcome(side, "POST", p, b))


def _compare_gears(comparison, group_path, namespace):
    group = group_path.removeprefix("/apis/")
    gears = f"{group_path}/v1/namespaces/{namespace}/gears"
    for kind in ({}, {"kind": "Gear"}, {"apiVersion": f"{group}/v1"}, {"apiVersion": f"{group}/v1", "kind": "Gear"}):
        body = kind | {"metadata": {"name": "kind"}}
        comparison.both(f"a custom resource that says {sorted(kind)}", lambda side, b=body: _outcome(side, "POST", f"{gears}?dryRun=All", b))
    for version in ("v1", "v1beta1", "v1alpha1"):
        comparison.both(f"warnings of {version}", lambda side, v=version: _outcome(side, "GET", f"{group_path}/{v}/namespaces/{namespace}/gears"))
    for name, spec in (("red", {"color": "red", "teeth": 8, "on": True}), ("blue", {"color": "blue", "teeth": 8, "on": False}), ("bare", {})):
        body = {"apiVersion": f"{group}/v1", "kind": "Gear", "metadata": {"name": name}, "spec": spec}
        comparison.both(f"the gear {name}", lambda side, b=body: _outcome(side, "POST", gears, b))
    for selector in SELECTORS:
        query = "fieldSelector=" + selector.replace("=", "%3D")
        for more in ("", "&resourceVersion=0"):
            comparison.both(f"gears by {selector}{more}", lambda side, q=query + more: (side.ask("GET", f"{gears}?{q}").code, _names_of(side.ask("GET", f"{gears}?{q}"))))
    for body in ({"kind": None}, {"kind": "Other"}, {"spec": {"teeth": 9}}, {"spec": {"teeth": 8}}):
        comparison.both(f"a gear with {body}", lambda side, b=body: _outcome(side, "PATCH", f"{gears}/red", b, "application/merge-patch+json"))
    comparison.both("deletion by a field", lambda side: _outcome(side, "DELETE", f"{gears}?fieldSelector=spec.teeth%3D8"))
    comparison.both("what is left", lambda side: _names_of(side.ask("GET", gears)))


def compare_rules(comparison, namespace, tag):
    """All of them, in a namespace that is there."""
    compare_names(comparison, tag)
    compare_collections(comparison, namespace)
    compare_pods(comparison, namespace)
    compare_accounts(comparison, namespace)
    compare_duplicates(comparison, namespace, tag)
    compare_finalize(comparison, tag)
    compare_timeouts(comparison, namespace)
    compare_deprecations(comparison, namespace)
    compare_definitions(comparison, namespace, tag)
    compare_stored_versions(comparison, tag)
    compare_missing_namespace(comparison)
