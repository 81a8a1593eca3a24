"""Requests of the subjects of a World: of resources that there are and that there are not, of paths, and on behalf of others.

Nothing that they write stays, so that all of them mean the same objects.
"""

import json
import random

from generator import JSON_PATCH, MERGE_PATCH, Request
from rbac_policy import PATHS, RBAC, RBAC_PATH, UNSERVED, VERBS

DRY = "dryRun=All"
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}
WORKLOAD = {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}}
# resource: (path of the version, kind, in a namespace, the rest of an object)
KINDS = {
    "configmaps": ("/api/v1", "ConfigMap", True, {"data": {"a": "1"}}),
    "secrets": ("/api/v1", "Secret", True, {}),
    "services": ("/api/v1", "Service", True, {"spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
    "serviceaccounts": ("/api/v1", "ServiceAccount", True, {}),
    "pods": ("/api/v1", "Pod", True, {"spec": TEMPLATE["spec"]}),
    "namespaces": ("/api/v1", "Namespace", False, {}),
    "nodes": ("/api/v1", "Node", False, {}),
    "deployments": ("/apis/apps/v1", "Deployment", True, WORKLOAD),
    "statefulsets": ("/apis/apps/v1", "StatefulSet", True, {"spec": WORKLOAD["spec"] | {"serviceName": "s"}}),
    "poddisruptionbudgets": ("/apis/policy/v1", "PodDisruptionBudget", True, {"spec": {"minAvailable": 1}}),
    "roles": (RBAC_PATH, "Role", True, {"rules": []}),
    "clusterroles": (RBAC_PATH, "ClusterRole", False, {"rules": []}),
    "widgets": (f"/apis/{UNSERVED}/v1", "Widget", True, {}),  # Nobody serves them.
}
# (resource, subresource, method): the body, as far as it is not an object of the resource
SUBRESOURCES = {
    ("pods", "status", "PATCH"): {"status": {"message": "m"}},
    ("pods", "log", "GET"): None,
    ("pods", "eviction", "POST"): {"apiVersion": "policy/v1", "kind": "Eviction"},
    ("pods", "binding", "POST"): {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": "n"}},
    ("pods", "exec", "POST"): None,
    ("pods", "proxy/a/b", "GET"): None,
    ("serviceaccounts", "token", "POST"): {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}},
    ("deployments", "scale", "GET"): None,
    ("deployments", "scale", "PATCH"): {"spec": {"replicas": 2}},
    ("deployments", "status", "GET"): None,
    ("deployments", "status", "PATCH"): {"status": {"replicas": 1}},
    ("statefulsets", "scale", "PATCH"): {"spec": {"replicas": 2}},
    ("services", "status", "GET"): None,
    ("services", "proxy", "GET"): None,
    ("namespaces", "status", "GET"): None,
    ("namespaces", "finalize", "PUT"): {"apiVersion": "v1", "kind": "Namespace", "spec": {"finalizers": ["kubernetes"]}},
    ("nodes", "proxy", "GET"): None,
    ("nodes", "status", "PATCH"): {"status": {}},
    ("widgets", "scale", "GET"): None,
}
SELECTORS = ["", "fieldSelector=metadata.name%3Do-0", "fieldSelector=metadata.name%3Do-1", "fieldSelector=metadata.name%3D%3Do-0",
             "fieldSelector=metadata.name%3Do-0,metadata.namespace!%3Dx", "fieldSelector=metadata.namespace!%3Dx,metadata.name%3Do-0",
             "fieldSelector=metadata.name!%3Do-0", "fieldSelector=metadata.name%3Da/b", "labelSelector=app%3Da", "limit=1",
             "fieldSelector=metadata.name%3Do-0,metadata.name%3Do-1"]


def api_version(prefix):
    return prefix.removeprefix("/apis/").removeprefix("/api/")


def body_of(resource, name, namespace):
    prefix, kind, namespaced, rest = KINDS[resource]
    metadata = {"name": name} | ({"namespace": namespace} if namespaced and namespace else {})
    return {"apiVersion": api_version(prefix), "kind": kind, "metadata": metadata} | json.loads(json.dumps(rest))


def path_of(resource, namespace, name="", subresource="", query=""):
    prefix, _, namespaced, _ = KINDS[resource]
    path = prefix + (f"/namespaces/{namespace}" if namespaced and namespace else "") + f"/{resource}"
    return path + (f"/{name}" if name else "") + (f"/{subresource}" if subresource else "") + (f"?{query}" if query else "")


def objects_of(world):
    """What is there, for the requests to be about: (path, object)."""
    for namespace in world.namespaces:
        yield path_of("serviceaccounts", namespace), body_of("serviceaccounts", "default", namespace)
        yield path_of("serviceaccounts", namespace), body_of("serviceaccounts", "robot", namespace)
        for resource in ("configmaps", "secrets", "services", "pods", "deployments"):
            yield path_of(resource, namespace), body_of(resource, "o-0", namespace)


def _as(subject):
    """The headers of who acts as the subject. Each way to write a header's name makes one more of it."""
    spellings = ("Impersonate-Group", "impersonate-group", "IMPERSONATE-GROUP")
    return {"Impersonate-User": subject.user} | dict(zip(spellings, subject.groups, strict=False))


class Requester:
    """Requests of one World."""

    def __init__(self, seed, world):
        self.r = random.Random(f"requests {seed}")
        self.world = world

    def _namespace(self, resource):
        return self.r.choice(self.world.namespaces + self.world.namespaces + ["", "nowhere"]) if KINDS[resource][2] else ""

    def _name(self, resource):
        return self.r.choice(self.world.namespaces) if resource == "namespaces" else self.r.choice(["o-0", "o-0", "o-1"])

    def about_resource(self):
        r = self.r
        resource, verb = r.choice(list(KINDS)), r.choice(VERBS)
        namespace, name = self._namespace(resource), self._name(resource)
        if verb in ("get", "update", "patch", "delete") and KINDS[resource][2] and not namespace:
            namespace = self.world.namespaces[0]
        if verb == "get":
            # Whoever asks for a name gets it, also when it is to watch.
            return Request(verb, resource, "GET", path_of(resource, namespace, name, query=r.choice(["", "", "watch=true"])), watch=True)
        if verb in ("list", "watch"):
            query = r.choice(SELECTORS)
            if verb == "watch":
                query += ("&" if query else "") + r.choice(["watch=1", "watch=true", "watch"]) + "&timeoutSeconds=5"
            return Request(verb, resource, "GET", path_of(resource, namespace, query=query), watch=verb == "watch")
        if verb == "create":
            namespace = namespace or (self.world.namespaces[0] if KINDS[resource][2] else "")
            # It may be selected, but never is.
            query = DRY + r.choice(["", "", "&fieldSelector=metadata.name%3Do-0"])
            return Request(verb, resource, "POST", path_of(resource, namespace, query=query), body_of(resource, f"new-{self.world.tag}", namespace))
        if verb == "update":
            # A pod that there is has what kube-apiserver's admission has added.
            name = "o-1" if resource == "pods" else name
            return Request(verb, resource, "PUT", path_of(resource, namespace, name, query=DRY), body_of(resource, name, namespace))
        if verb == "patch":
            return self._patch(resource, path_of(resource, namespace, name, query=DRY), resource, name, namespace)
        query = DRY + ("" if verb == "delete" else r.choice(["", "&" + SELECTORS[1], "&labelSelector=app%3Da"]))
        return Request(verb, resource, "DELETE", path_of(resource, namespace, name if verb == "delete" else "", query=query))

    def _patch(self, verb_about, path, resource, name, namespace):
        kind = self.r.choice(["merge", "json", "apply"])
        if kind == "json":
            return Request("patch", verb_about, "PATCH", path, [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}], JSON_PATCH)
        if kind == "merge":
            return Request("patch", verb_about, "PATCH", path, {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
        body = body_of(resource, name, namespace)
        return Request("patch", verb_about, "PATCH", path + "&fieldManager=m&force=true", body, "application/apply-patch+yaml")

    def about_subresource(self):
        r = self.r
        (resource, subresource, method), body = r.choice(list(SUBRESOURCES.items()))
        namespace = r.choice(self.world.namespaces)
        name = "robot" if resource == "serviceaccounts" else self._name(resource)
        # What runs on a node is not asked for, for there is none: it would be awaited.
        name = "o-1" if subresource.split("/")[0] in ("log", "exec", "proxy") else name
        path = path_of(resource, namespace, name, subresource, "" if method == "GET" else DRY)
        if body is not None and "kind" in body and "metadata" not in body and subresource != "token":
            body = body | {"metadata": {"name": name}}
        return Request(method.lower(), f"{resource}/{subresource}", method, path, body, MERGE_PATCH if method == "PATCH" else "application/json")

    def about_path(self):
        tag = self.world.tag
        path = self.r.choice(PATHS + [f"/{tag}", f"/{tag}/aut", f"/{tag}/una", f"/apis/{UNSERVED}", "/livez", "/readyz", "/readyz/ping"])
        method = self.r.choice(["GET", "GET", "GET", "HEAD"])
        return Request(method.lower(), "", method, path)

    def requests(self, each):
        """(subject, request): `each` of everybody; for those who cannot show who they are a master acts as them."""
        for subject in self.world.subjects:
            for number in range(each):
                made = ((self.about_path, self.about_subresource)[number % 2] if number % 3 == 0 else self.about_resource)()
                if not subject.known:
                    made.headers = _as(subject)
                yield subject if subject.known else self.world.subject("master"), made

    def within_namespaces(self):
        """What is of the cluster, by a path through a namespace in which one may do everything: (subject, request)."""
        first, second = self.world.namespaces
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": second}}
        for label in ("owner", "alice", "master"):
            for at in (first, second):
                base = f"/api/v1/namespaces/{at}/namespaces"
                one = f"{base}/{second}"
                for method, path in (("GET", base), ("GET", f"{base}?watch=1&timeoutSeconds=1"), ("POST", f"{base}?{DRY}"), ("DELETE", f"{base}?{DRY}"),
                                     ("GET", one), ("PUT", f"{one}?{DRY}"), ("PATCH", f"{one}?{DRY}"), ("DELETE", f"{one}?{DRY}"),
                                     ("PUT", f"{one}/finalize?{DRY}"), ("GET", f"{one}/status"), ("PUT", f"{one}/status?{DRY}"),
                                     ("GET", f"{one}/configmaps"), ("GET", f"/api/v1/namespaces/{at}/nodes"),
                                     ("GET", f"{RBAC_PATH}/namespaces/{at}/clusterroles"), ("GET", f"{RBAC_PATH}/namespaces/{at}/clusterroles/view"),
                                     ("GET", f"/api/v1/namespaces/{at}"), ("DELETE", f"/api/v1/namespaces/{at}?{DRY}")):
                    sent = None if method in ("GET", "DELETE") else {} if method == "PATCH" else body
                    yield self.world.subject(label), Request(method.lower(), "namespaces", method, path, sent,
                                                             MERGE_PATCH if method == "PATCH" else "application/json")

    def impersonations(self):
        """Those who may act as some others, and try it as these and others: (subject, request). As no node, whom kube-apiserver's
        node authorizer would know."""
        world = self.world
        alice, bob = world.subject("alice").user, world.subject("bob").user
        robot, other = (f"system:serviceaccount:{namespace}:robot" for namespace in world.namespaces)
        devs, ops, master = f"{world.tag}:devs", f"{world.tag}:ops", "system:masters"
        users = [{"Impersonate-User": user} for user in (alice, bob, robot, other, "system:anonymous", "system:serviceaccount:x", "z<&>y",
                                                         "system:serviceaccount:UPPER:a", "system:admin")]
        headers = users + [
            {"Impersonate-Group": devs}, {"Impersonate-Uid": "1"}, {"Impersonate-Extra-A": "b"}, {"Impersonate-User": ""},
            {"Impersonate-User": alice, "Impersonate-Group": devs}, {"Impersonate-User": alice, "Impersonate-Group": ops},
            {"Impersonate-User": bob, "Impersonate-Group": ops, "impersonate-group": devs},
            {"Impersonate-User": bob, "Impersonate-Group": devs, "impersonate-group": master},
            {"Impersonate-Group": ops, "Impersonate-User": bob},
            {"Impersonate-User": alice, "Impersonate-Group": "system:authenticated"},
            {"Impersonate-User": alice, "Impersonate-Group": "system:unauthenticated"},
            {"Impersonate-User": "system:anonymous", "Impersonate-Group": "system:unauthenticated"},
            {"Impersonate-User": "system:anonymous", "Impersonate-Group": devs},
            {"Impersonate-User": robot, "Impersonate-Group": devs}, {"Impersonate-User": alice, "Impersonate-Uid": "7"},
            {"Impersonate-User": alice, "Impersonate-Uid": "8"}, {"Impersonate-User": alice, "Impersonate-Extra-Scopes": "view"},
            {"Impersonate-User": alice, "Impersonate-Extra-Scopes": "edit"}, {"Impersonate-User": alice, "Impersonate-Extra-Other": "view"},
            {"Impersonate-User": alice, "Impersonate-Extra-Example.com%2fscopes": "view"},
            {"Impersonate-User": "z", "Impersonate-Group": devs, "Impersonate-Uid": "9", "Impersonate-Extra-Scopes": "x"}]
        for label in ("master", "alice", "bob", "carol", "robot", "nobody"):
            for one in headers:
                asked = Request("create", "selfsubjectreviews", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}, headers=one)
                read = Request("get", "configmaps", "GET", path_of("configmaps", world.namespaces[0], "o-0"), headers=one)
                yield from ((world.subject(label), request) for request in (asked, read))


def odd_reviews(world):
    """Reviews with too little, or too much, in them: (subject, request)."""
    namespace = world.namespaces[0]
    resource, path = {"verb": "get", "resource": "pods", "namespace": namespace}, {"verb": "get", "path": "/metrics"}
    attributes = [{"resourceAttributes": resource}, {"nonResourceAttributes": path}, {"resourceAttributes": resource, "nonResourceAttributes": path}, {},
                  {"resourceAttributes": {}}, {"nonResourceAttributes": {}}, {"nonResourceAttributes": {"verb": "get"}},
                  {"nonResourceAttributes": {"path": "/metrics"}}, {"nonResourceAttributes": {"verb": "get", "path": "metrics"}},
                  {"resourceAttributes": {"verb": "*", "resource": "*", "group": "*"}}, {"resourceAttributes": resource | {"namespace": ""}},
                  {"resourceAttributes": resource | {"namespace": "nowhere"}}, {"resourceAttributes": {"namespace": namespace}}]
    alice = world.subject("alice")
    who = [{"user": alice.user, "groups": list(alice.groups)}, {"user": world.subject("owner").user}, {"groups": ["system:masters"]}, {"user": ""}, {}]

    def review(kind, spec, of=""):
        base = f"/apis/authorization.k8s.io/v1{of}/{kind.lower()}s"
        return Request("create", f"{kind.lower()}s", "POST", base, {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec})
    for one in attributes:
        for label in ("alice", "owner", "master"):
            yield world.subject(label), review("SelfSubjectAccessReview", one)
        for spec in ({**one, **name} for name in who):
            yield world.subject("master"), review("SubjectAccessReview", spec)
            for label in ("owner", "master"):
                yield world.subject(label), review("LocalSubjectAccessReview", spec, f"/namespaces/{namespace}")
