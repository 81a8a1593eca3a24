"""Sequences of requests, chosen at random from a seed.

Requests speak of what a server has said before by placeholders, which each server's Memory fills in: {version:NAME} and
{uid:NAME} of an object, {start} (a version before everything) and {continue}.
"""

import copy
import random
from dataclasses import dataclass, field

MARKER = "zz-marker"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


@dataclass
class Request:
    """One request; `watch` means to read a stream of events until the marker's."""
    verb: str
    resource: str
    method: str
    path: str
    body: object = None
    content_type: str = "application/json"
    headers: dict = field(default_factory=dict)
    watch: bool = False


@dataclass
class Kind:
    """A resource that is generated: how its objects look, and changes that make sense."""
    resource: str
    prefix: str
    api_version: str
    kind: str
    make: object
    fields: tuple = ()  # (JSON path, possible values)
    scale: bool = False
    status: bool = False


def container(r, name="main"):
    made = {"name": name, "image": r.choice(["a:1", "a", "b:latest", "registry:5000/x/y:2"])}
    if r.random() < 0.4:
        made["env"] = [{"name": n, "value": r.choice("xyz")} for n in r.sample(["A", "B", "C"], r.randrange(3))]
    if r.random() < 0.3:
        made["ports"] = [{"containerPort": r.choice([80, 8080])}]
    if r.random() < 0.2:
        made["resources"] = {"limits": {"cpu": r.choice(["100m", "0.5", "1000m"]), "memory": r.choice(["64Mi", "1Gi"])}}
    return made


def pod_spec(r):
    spec = {"containers": [container(r)]}
    if r.random() < 0.4:
        spec["containers"].append(container(r, "side"))
    if r.random() < 0.3:
        spec["volumes"] = [{"name": "v", r.choice(["emptyDir", "configMap"]): {}}]
        if "configMap" in spec["volumes"][0]:
            spec["volumes"][0]["configMap"] = {"name": "c"}
    if r.random() < 0.2:
        spec["nodeSelector"] = {"disk": "ssd"}
    return spec


def template(r):
    return {"metadata": {"labels": {"app": "a"}}, "spec": pod_spec(r)}


def config_map(r):
    made = {"data": {k: r.choice(["1", "2", "long text\n", "", "ü"]) for k in r.sample(["a", "b", "c.txt"], r.randrange(4))}}
    if r.random() < 0.2:
        made["binaryData"] = {"bin": r.choice(["AAEC", "/w=="])}
    if r.random() < 0.1:
        made["immutable"] = r.choice([True, False])
    return made


def secret(r):
    made = {r.choice(["data", "stringData"]): {k: r.choice(["cQ==", "eA=="]) for k in r.sample(["a", "b"], r.randrange(3))}}
    if r.random() < 0.3:
        made["type"] = "example.com/own"
    return made


def workload(r, kind):
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template(r)}
    if kind != "DaemonSet" and r.random() < 0.7:
        spec["replicas"] = r.randrange(4)
    if kind == "StatefulSet":
        spec["serviceName"] = "s"
    if kind == "Deployment" and r.random() < 0.3:
        spec["strategy"] = {"type": r.choice(["Recreate", "RollingUpdate"])}
    return {"spec": spec}


def service(r):
    ports = [{"port": 80, "name": "http"}]
    if r.random() < 0.4:
        ports.append({"port": 443, "name": "https", "targetPort": r.choice([8443, "web"])})
    return {"spec": {"clusterIP": "None", "selector": {"app": r.choice("ab")}, "ports": ports}}


def lease(r):
    return {"spec": {"holderIdentity": r.choice("xyz"), "leaseDurationSeconds": r.choice([10, 15])}}


def role(r):
    return {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": r.sample(["get", "list", "watch"], 2)}]}


def role_binding(_):
    return {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "default"}]}


def endpoints_slice(r):
    return {"addressType": "IPv4", "endpoints": [{"addresses": [f"10.1.2.{r.randrange(1, 9)}"]}], "ports": [{"port": 80}]}


KINDS = [
    Kind("configmaps", "/api/v1", "v1", "ConfigMap", config_map, (("/data/a", ("1", "5", "")), ("/data/new", ("x",)))),
    Kind("secrets", "/api/v1", "v1", "Secret", secret, (("/data/a", ("cQ==", "eA==")),)),
    Kind("services", "/api/v1", "v1", "Service", service, (("/spec/sessionAffinity", ("ClientIP", "None")), ("/spec/selector/app", ("a", "c")))),
    Kind("serviceaccounts", "/api/v1", "v1", "ServiceAccount", lambda r: {}, (("/automountServiceAccountToken", (True, False)),)),
    Kind("deployments", "/apis/apps/v1", "apps/v1", "Deployment", lambda r: workload(r, "Deployment"),
         (("/spec/replicas", (0, 1, 7)), ("/spec/paused", (True, False)), ("/spec/template/spec/containers/0/image", ("a:1", "c:3"))), True, True),
    Kind("statefulsets", "/apis/apps/v1", "apps/v1", "StatefulSet", lambda r: workload(r, "StatefulSet"), (("/spec/replicas", (0, 1, 7)),), True, True),
    Kind("daemonsets", "/apis/apps/v1", "apps/v1", "DaemonSet", lambda r: workload(r, "DaemonSet"), (("/spec/minReadySeconds", (0, 5)),), False, True),
    Kind("replicasets", "/apis/apps/v1", "apps/v1", "ReplicaSet", lambda r: workload(r, "ReplicaSet"), (("/spec/replicas", (0, 1, 7)),), True, True),
    Kind("leases", "/apis/coordination.k8s.io/v1", "coordination.k8s.io/v1", "Lease", lease, (("/spec/holderIdentity", ("x", "q")),)),
    Kind("roles", "/apis/rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1", "Role", role),
    Kind("rolebindings", "/apis/rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1", "RoleBinding", role_binding),
    Kind("endpointslices", "/apis/discovery.k8s.io/v1", "discovery.k8s.io/v1", "EndpointSlice", endpoints_slice),
]

LABEL_SELECTORS = ["app=a", "app!=a", "app in (a,b)", "app notin (a)", "tier", "!tier", "app=a,tier=x", "app==b", "n>3", "",
                   "app in ()", "app in (a", "=", "a b", "app=a,,tier", "bad/key/x=1", "app=-bad"]
FIELD_SELECTORS = ["metadata.name=o-0", "metadata.name!=o-0", "metadata.name=o-1,metadata.namespace!=x", "metadata.namespace=nowhere", "",
                   "spec.nowhere=1", "metadata.name", "status.phase=Pending", "metadata.name=o-0,metadata.name=o-1"]
FINALIZER = "example.com/hold"


class Generator:
    """Requests about a few objects of one or two kinds in a namespace of their own."""

    def __init__(self, seed, tag):
        self.r = random.Random(seed)
        self.namespace = f"diff-{seed}-{tag}"
        self.kinds = self.r.sample(KINDS, 2)
        self._scaled = 10

    def requests(self, count):
        """Makes the namespace, `count` requests, then the watches of all that happened."""
        yield Request("create", "namespaces", "POST", "/api/v1/namespaces",
                      {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        # The cache of a resource begins when it is first needed; see docs/apiserver.md.
        yield from (Request("list", k.resource, "GET", self._url(k, query=[("resourceVersion", "0")])) for k in self.kinds)
        yield from (self._one() for _ in range(count))
        for kind in self.kinds:
            yield from self._watches(kind)

    def _url(self, kind, name="", sub="", query=()):
        url = f"{kind.prefix}/namespaces/{self.namespace}/{kind.resource}"
        url += "/" + name if name else ""
        url += "/" + sub if sub else ""
        return url + ("?" + "&".join(f"{k}={_escaped(v)}" for k, v in query) if query else "")

    def _object(self, kind, name):
        metadata = {"name": name} if name else {}
        if self.r.random() < 0.7:
            metadata["labels"] = {k: self.r.choice(v) for k, v in (("app", "ab"), ("tier", "xy"), ("n", "159")) if self.r.random() < 0.6}
        if self.r.random() < 0.3:
            metadata["annotations"] = {"note": self.r.choice(["", "text"])}
        if self.r.random() < 0.1:
            metadata["finalizers"] = [FINALIZER]
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata} | kind.make(self.r)

    def _name(self):
        return f"o-{self.r.randrange(4)}"

    def _one(self):
        kind = self.r.choice(self.kinds)
        verbs = [(self._create, 24), (self._get, 8), (self._list, 16), (self._update, 14), (self._patch, 18), (self._delete, 9),
                 (self._delete_collection, 2), (self._scale, 4 if kind.scale else 0), (self._status, 5 if kind.status else 0),
                 (self._strange, 5), (self._unfinish, 4)]
        return self.r.choices([v for v, _ in verbs], [w for _, w in verbs])[0](kind)

    def _create(self, kind):
        body = self._object(kind, self._name())
        query = []
        match self.r.randrange(14):
            case 0:
                body["metadata"]["name"] = self.r.choice(["Bad_Name", "-x", "a" * 260, "a..b", "."])
            case 1:
                del body["metadata"]["name"]
            case 2:
                body["metadata"]["namespace"] = "elsewhere"
            case 3:
                body["metadata"]["resourceVersion"] = "5"
            case 4:
                body["kind"] = "Wrong"
            case 5:
                body["metadata"]["labels"] = {"bad key": "x", "good": "bad value!"}
            case 6:
                query = [("dryRun", "All")]
            case 7:
                body["metadata"] |= {"uid": "made-up", "generation": 9, "creationTimestamp": "2001-01-01T00:00:00Z"}
            case 8:
                body["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u-1"}]
        return Request("create", kind.resource, "POST", self._url(kind, query=query), body)

    def _get(self, kind):
        name = self._name() if self.r.random() < 0.85 else "absent"
        headers = {}
        if self.r.random() < 0.2:
            headers["Accept"] = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
        return Request("get", kind.resource, "GET", self._url(kind, name), headers=headers)

    def _list(self, kind):
        query, headers = [], {}
        if self.r.random() < 0.5:
            query.append(("labelSelector", self.r.choice(LABEL_SELECTORS)))
        if self.r.random() < 0.3:
            query.append(("fieldSelector", self.r.choice(FIELD_SELECTORS)))
        if self.r.random() < 0.3:
            query.append(("limit", self.r.choice(["1", "2", "100", "0", "x", "-1"])))
        if self.r.random() < 0.2:
            query.append(("resourceVersion", self.r.choice(["0", "{start}", "x", "-1"])))
            if self.r.random() < 0.5:
                query.append(("resourceVersionMatch", self.r.choice(["Exact", "NotOlderThan", "Wrong"])))
        elif self.r.random() < 0.1:
            query.append(("continue", self.r.choice(["{continue}", "garbage"])))
        if self.r.random() < 0.1:
            headers["Accept"] = self.r.choice(["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "text/html", "application/yaml"])
        return Request("list", kind.resource, "GET", self._url(kind, query=query), headers=headers)

    def _update(self, kind):
        name = self._name()
        body = self._object(kind, name)
        version = self.r.random()
        if version < 0.6:
            body["metadata"]["resourceVersion"] = "{version:%s/%s}" % (kind.resource, name)
        elif version < 0.7:
            body["metadata"]["resourceVersion"] = "1"
        match self.r.randrange(12):
            case 0:
                body["metadata"]["name"] = "other"
            case 1:
                body["metadata"]["uid"] = "made-up"
            case 2:
                body["metadata"]["uid"] = "{uid:%s/%s}" % (kind.resource, name)
            case 3:
                body["metadata"]["namespace"] = "elsewhere"
        query = [("dryRun", "All")] if kind.kind == "ConfigMap" and self.r.random() < 0.2 else []
        return Request("update", kind.resource, "PUT", self._url(kind, name, query=query), body)

    def _patch(self, kind):
        name = self._name() if self.r.random() < 0.9 else "absent"
        content_type = self.r.choice([JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH])
        body = self._json_patch(kind) if content_type == JSON_PATCH else self._merge_patch(kind)
        if self.r.random() < 0.05:
            content_type = self.r.choice(["application/json", "text/plain"])
        return Request("patch", kind.resource, "PATCH", self._url(kind, name), body, content_type)

    def _json_patch(self, kind):
        operations = []
        for _ in range(self.r.randrange(1, 3)):
            path, values = self.r.choice((("/metadata/labels", ({"app": "b"}, {})), ("/metadata/annotations", ({"k": "v"},)), *kind.fields))
            op = self.r.choice(["add", "add", "replace", "test", "remove", "copy", "move", "bad"])
            operation = {"op": op, "path": path}
            if op in ("add", "replace", "test"):
                operation["value"] = self.r.choice(values)
            if op in ("copy", "move"):
                operation |= {"from": "/metadata/name", "path": "/metadata/labels/copied"}
            operations.append(operation)
        return operations if self.r.random() < 0.95 else {"op": "add"}

    def _merge_patch(self, kind):
        patch = {"metadata": {"labels": {"app": self.r.choice(["a", "c", None])}}}
        if self.r.random() < 0.2:
            patch["metadata"]["annotations"] = {"note": self.r.choice([None, "patched"])}
        if self.r.random() < 0.1:
            patch["metadata"]["finalizers"] = [FINALIZER]
        if self.r.random() < 0.15:
            patch["metadata"]["resourceVersion"] = self.r.choice(["1", "{version:%s/o-0}" % kind.resource])
        if self.r.random() < 0.1:
            patch = self.r.choice([{}, {"unknown": {"x": 1}}, {"metadata": None}, [1]])
        elif kind.fields and self.r.random() < 0.6:
            path, values = self.r.choice(kind.fields)
            if "0" not in path.split("/"):
                _set(patch, path.split("/")[1:], self.r.choice([*values, None]))
        if kind.kind in ("Deployment", "StatefulSet") and self.r.random() < 0.3 and isinstance(patch, dict):
            _set(patch, ["spec", "template", "spec", "containers"], [{"name": "main", "image": "new:1"}])
        return patch

    def _delete(self, kind):
        name = self._name() if self.r.random() < 0.9 else "absent"
        body, query = None, []
        match self.r.randrange(8):
            case 0:
                body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "made-up"}}
            case 1:
                body = {"preconditions": {"uid": "{uid:%s/%s}" % (kind.resource, name)}}
            case 2:
                body = {"preconditions": {"resourceVersion": self.r.choice(["1", "{version:%s/%s}" % (kind.resource, name)])}}
            case 3:
                query = [("dryRun", "All")]
            case 4:
                body = {"propagationPolicy": "Background"}
        return Request("delete", kind.resource, "DELETE", self._url(kind, name, query=query), body)

    def _delete_collection(self, kind):
        query = [("labelSelector", self.r.choice(["app=a", "app=b,tier=x"]))]
        return Request("deletecollection", kind.resource, "DELETE", self._url(kind, query=query))

    def _unfinish(self, kind):
        """Lets go of an object, whether or not it is being deleted."""
        return Request("patch", kind.resource, "PATCH", self._url(kind, self._name()), {"metadata": {"finalizers": None}}, MERGE_PATCH)

    def _scale(self, kind):
        # Never what there is: a scale that changes nothing is written all the same, for its manager; see known.py.
        self._scaled += 1
        name, replicas = self._name(), self.r.choice([self._scaled, self._scaled, -1])
        choice = self.r.randrange(3)
        if choice == 0:
            return Request("get", kind.resource + "/scale", "GET", self._url(kind, name, "scale"))
        if choice == 1:
            return Request("patch", kind.resource + "/scale", "PATCH", self._url(kind, name, "scale"), {"spec": {"replicas": replicas}}, MERGE_PATCH)
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name, "namespace": self.namespace}, "spec": {"replicas": replicas}}
        return Request("update", kind.resource + "/scale", "PUT", self._url(kind, name, "scale"), body)

    def _status(self, kind):
        name = self._name()
        if self.r.random() < 0.2:
            return Request("get", kind.resource + "/status", "GET", self._url(kind, name, "status"))
        change = {"observedGeneration": self.r.randrange(3)}
        if kind.kind in ("StatefulSet", "ReplicaSet"):
            change["replicas"] = 0
        return Request("patch", kind.resource + "/status", "PATCH", self._url(kind, name, "status"), {"status": change}, MERGE_PATCH)

    def _strange(self, kind):
        """What no client should send."""
        name = self._name()
        return self.r.choice([
            Request("create", kind.resource, "POST", self._url(kind), "{broken"),
            Request("create", kind.resource, "POST", self._url(kind), "[]"),
            Request("create", kind.resource, "POST", self._url(kind), "x: y", "text/plain"),
            Request("create", kind.resource, "POST", self._url(kind, name), self._object(kind, name)),
            Request("update", kind.resource, "PUT", self._url(kind), self._object(kind, name)),
            Request("get", "nowhere", "GET", f"{kind.prefix}/namespaces/{self.namespace}/nowhere"),
            Request("get", "nowhere", "GET", "/apis/nowhere.example.com/v1/things"),
            Request("get", kind.resource + "/nowhere", "GET", self._url(kind, name, "nowhere")),
            Request("delete", kind.resource, "DELETE", self._url(kind, name), "{broken"),
            Request("patch", kind.resource, "PATCH", self._url(kind, name), "{broken", MERGE_PATCH),
            Request("get", kind.resource, "GET", f"{kind.prefix}/namespaces/nowhere/{kind.resource}/{name}"),
            Request("create", kind.resource, "POST", f"{kind.prefix}/namespaces/nowhere/{kind.resource}", self._object(kind, name)),
            Request("list", kind.resource, "GET", f"{kind.prefix}/namespaces/nowhere/{kind.resource}"),
        ])

    def _watches(self, kind):
        marker = self._object(kind, MARKER)
        marker["metadata"] = {"name": MARKER, "labels": {"app": "a", "tier": "x"}}
        yield Request("create", kind.resource, "POST", self._url(kind), marker)
        selectors = [(), (("labelSelector", self.r.choice(["app=a", "tier=x", "app=a,tier"])),)]
        for query in selectors:
            yield self._watch(kind, (("resourceVersion", "{start}"), *query))
        yield self._watch(kind, (("resourceVersion", self.r.choice(["0", ""])), *self.r.choice(selectors)))
        yield self._watch(kind, (("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan"), ("allowWatchBookmarks", "true")))
        yield self._watch(kind, (("resourceVersion", self.r.choice(["x", "-1"])),))
        yield self._watch(kind, (("sendInitialEvents", "true"),))

    def _watch(self, kind, query):
        return Request("watch", kind.resource, "GET", self._url(kind, query=[("watch", "1"), ("timeoutSeconds", "20"), *query]), watch=True)


def _set(tree, steps, value):
    for step in steps[:-1]:
        tree = tree.setdefault(step, {})
    tree[steps[-1]] = value


def _escaped(value):
    from urllib.parse import quote
    return quote(value, safe="{}:")


def placeholders_filled(value, fill):
    """A copy of `value` with every string replaced by fill(string)."""
    if isinstance(value, str):
        return fill(value)
    if isinstance(value, list):
        return [placeholders_filled(one, fill) for one in value]
    if isinstance(value, dict):
        return {key: placeholders_filled(one, fill) for key, one in value.items()}
    return copy.copy(value)
