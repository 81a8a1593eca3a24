"""Roles, bindings and those whom they are for, chosen at random from a seed, and questions about what they allow.

Everything has the run's tag in its name: nothing of other tests, or of an earlier run, counts.
"""

import random
from dataclasses import dataclass, field

RBAC = "rbac.authorization.k8s.io"
UNSERVED = "unserved.example.com"  # Other tests serve example.com at times.
RBAC_PATH = f"/apis/{RBAC}/v1"
VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
OTHER_VERBS = ["impersonate", "escalate", "bind", "approve", "GET", ""]
GROUPS = ["", "apps", "batch", RBAC, UNSERVED, "policy"]
RESOURCES = {
    "": ["pods", "pods/log", "pods/status", "pods/eviction", "pods/binding", "configmaps", "secrets", "services", "services/status",
         "serviceaccounts", "serviceaccounts/token", "namespaces", "namespaces/status", "nodes", "nodes/proxy"],
    "apps": ["deployments", "deployments/scale", "deployments/status", "statefulsets", "statefulsets/scale"],
    "batch": ["jobs", "cronjobs", "jobs/status"],
    RBAC: ["roles", "clusterroles", "rolebindings", "clusterrolebindings"],
    UNSERVED: ["widgets", "widgets/scale", "widgets/a/b"],
    "policy": ["poddisruptionbudgets"],
}
PATTERNS = ["*", "*/scale", "*/status", "pods/*", "*/*", "*pods", "pod*"]
PATHS = ["/metrics", "/healthz", "/healthz/ping", "/version", "/version/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1",
         "/openapi/v3", "/openapi/v3/api/v1", "/logs", "/logs/a", "/nowhere", "/nowhere/", "/nowhere/b/c", "/"]
PATH_PATTERNS = ["*", "/*", "/nowhere/*", "/nowhere*", "/nowhere/**", "/api*", "/logs/*", "/*/b", "nowhere", "/metrics*"]
NAMES = ["o-0", "o-1", "*", "o-*"]


@dataclass(frozen=True)
class Subject:
    """Somebody; `account` is the namespace and the name of a service account."""
    label: str
    user: str
    groups: tuple = ()
    account: tuple = ()
    known: bool = True  # Can show who it is, and so can send requests.


@dataclass
class World:
    """All that there is at the beginning of a run."""
    tag: str
    namespaces: list
    subjects: list
    roles: list = field(default_factory=list)  # Objects, as are all of the following.
    cluster_roles: list = field(default_factory=list)
    bindings: list = field(default_factory=list)
    cluster_bindings: list = field(default_factory=list)

    def objects(self):
        """(path of the collection, object), in the order in which they are to be made."""
        for role in self.cluster_roles:
            yield f"{RBAC_PATH}/clusterroles", role
        for role in self.roles:
            yield f"{RBAC_PATH}/namespaces/{role['metadata']['namespace']}/roles", role
        for binding in self.bindings:
            yield f"{RBAC_PATH}/namespaces/{binding['metadata']['namespace']}/rolebindings", binding
        for binding in self.cluster_bindings:
            yield f"{RBAC_PATH}/clusterrolebindings", binding

    def subject(self, label):
        return next(one for one in self.subjects if one.label == label)


def subjects_of(tag, namespaces):
    """Users in groups and in none, accounts of the same name, members of the built-in groups."""
    def user(label, *groups, known=True):
        return Subject(label, f"{tag}:{label}", tuple(f"{tag}:{group}" for group in groups), (), known)

    def account(label, namespace, known=True):
        return Subject(label, f"system:serviceaccount:{namespace}:robot", ("system:serviceaccounts", f"system:serviceaccounts:{namespace}"),
                       (namespace, "robot"), known)
    return [user("alice", "devs"), user("bob", "devs", "ops"), user("carol"), user("dave", "ops"), user("erin"), user("owner"), user("nobody"),
            user("zoe<&>", "a b", known=False), user("ghost", "devs", "ops", "more", known=False),
            account("robot", namespaces[0]), account("other-robot", namespaces[1], known=False),
            Subject("master", f"{tag}:master", ("system:masters",)),
            Subject("anonymous", "system:anonymous", ("system:unauthenticated",), (), False)]


def authenticated(subject):
    """All groups that the server gives to the subject."""
    return list(subject.groups) + ([] if subject.user == "system:anonymous" else ["system:authenticated"])


class PolicyMaker:
    """Makes a World from a seed."""

    def __init__(self, seed, tag):
        self.r = random.Random(f"policy {seed}")
        self.tag = tag
        self.namespaces = [f"{tag}-a", f"{tag}-b"]

    def verbs(self):
        if self.r.random() < 0.08:
            return ["*"]
        return self.r.sample(VERBS, self.r.randrange(1, 5)) + (self.r.sample(OTHER_VERBS[:4], 1) if self.r.random() < 0.15 else [])

    def rule(self, namespaced):
        """A rule about resources, or, of the cluster, about paths."""
        r = self.r
        if not namespaced and r.random() < 0.15:
            return {"verbs": r.choice([["get"], ["get", "post"], ["*"]]), "nonResourceURLs": r.sample(PATHS + PATH_PATTERNS[2:], r.randrange(1, 4))}
        group = r.choice(GROUPS)
        resources = r.sample(RESOURCES[group], min(len(RESOURCES[group]), r.randrange(1, 4)))
        if r.random() < 0.2:
            resources.append(r.choice(PATTERNS[1:]))
        if r.random() < 0.04:
            resources = ["*"]
        groups = [group] if r.random() < 0.8 else [group, r.choice(GROUPS)]
        rule = {"verbs": self.verbs(), "apiGroups": ["*"] if r.random() < 0.05 else groups, "resources": resources}
        if r.random() < 0.25:
            rule["resourceNames"] = r.sample(NAMES + self.namespaces[:1], r.randrange(1, 3))
        return rule

    def rules(self, namespaced):
        return [self.rule(namespaced) for _ in range(self.r.randrange(1, 4))]

    def _meta(self, name, namespace="", labels=None):
        meta = {"name": name, "labels": {"rbac-test": self.tag} | (labels or {})}
        return meta | ({"namespace": namespace} if namespace else {})

    def _subject(self, subject, namespace):
        """As a binding names it; one of its groups, now and then."""
        if subject.account and self.r.random() < 0.7:
            named = {"kind": "ServiceAccount", "name": subject.account[1], "namespace": subject.account[0]}
            if namespace == subject.account[0] and self.r.random() < 0.5:
                del named["namespace"]
            return named
        groups = [group for group in subject.groups if group != "system:unauthenticated" or self.r.random() < 0.5]
        if groups and self.r.random() < 0.4:
            return {"kind": "Group", "apiGroup": RBAC, "name": self.r.choice(groups)}
        named = {"kind": "User", "name": subject.user}
        return named | ({"apiGroup": RBAC} if self.r.random() < 0.7 else {})

    def binding(self, name, namespace, kind, role, subjects):
        made = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding", "metadata": self._meta(name, namespace),
                "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role}}
        return made | ({"subjects": [self._subject(one, namespace) for one in subjects]} if subjects else {})

    def world(self):
        """Two namespaces with roles; roles of the cluster, some of which aggregate; bindings, some to roles that are not there."""
        r, tag = self.r, self.tag
        world = World(tag, self.namespaces, subjects_of(tag, self.namespaces))
        for number in range(14):
            labels = {f"{tag}/part": r.choice("xyz")} if r.random() < 0.5 else {}
            world.cluster_roles.append({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": self._meta(f"{tag}-c-{number}", labels=labels),
                                        "rules": self.rules(False)})
        for number, values in enumerate((["x"], ["y", "z"])):
            world.cluster_roles.append({
                "apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": self._meta(f"{tag}-sum-{number}"), "rules": [],
                "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {f"{tag}/part": value}} for value in values[:1]] +
                                    [{"matchExpressions": [{"key": f"{tag}/part", "operator": "In", "values": values}]}]}})
        for namespace in world.namespaces:
            for number in range(8):
                world.roles.append({"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": self._meta(f"r-{number}", namespace),
                                    "rules": self.rules(True)})
        bound = [one for one in world.subjects if one.label not in ("nobody", "owner", "master")]
        cluster_role_names = [role["metadata"]["name"] for role in world.cluster_roles] + ["view", "edit", "admin", f"{tag}-missing"]
        for namespace in world.namespaces:
            for number in range(14):
                kind = r.choice(["Role", "ClusterRole"])
                role = r.choice([f"r-{n}" for n in range(9)]) if kind == "Role" else r.choice(cluster_role_names)
                world.bindings.append(self.binding(f"b-{number}", namespace, kind, role, r.sample(bound, r.randrange(0, 4))))
        for number in range(12):
            # Those of whoever is not known are about what is nobody else's.
            who = [one for one in bound if one.label != "anonymous"]
            role = r.choice(cluster_role_names[:16] + cluster_role_names[-1:])
            world.cluster_bindings.append(self.binding(f"{tag}-b-{number}", "", "ClusterRole", role, r.sample(who, r.randrange(0, 3))))
        self._everybody(world)
        return world

    def _everybody(self, world):
        """Rights of the built-in groups, about what only this test asks for."""
        for group in ("system:authenticated", "system:unauthenticated"):
            name = f"{self.tag}-{group.split(':')[1]}"
            world.cluster_roles.append({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": self._meta(name), "rules": [
                {"verbs": ["get", "list"], "apiGroups": [f"{self.tag}.example.com"], "resources": ["things", "*/scale"]},
                {"verbs": ["get"], "nonResourceURLs": [f"/{self.tag}", f"/{self.tag}/{group[7:10]}*"]}]})
            world.cluster_bindings.append({
                "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": self._meta(name),
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
                "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": group}]})


@dataclass(frozen=True)
class Question:
    """What a SubjectAccessReview asks: `subresource` and the following are "" for a path."""
    subject: Subject
    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def attributes(self):
        if self.path:
            return {"nonResourceAttributes": {"verb": self.verb, "path": self.path}}
        fields = {"verb": self.verb, "group": self.group, "resource": self.resource, "subresource": self.subresource, "namespace": self.namespace,
                  "name": self.name}
        return {"resourceAttributes": {key: value for key, value in fields.items() if value}}


class Asker:
    """Questions near to what the rules of a World say: most answers hang on one word."""

    def __init__(self, seed, world):
        self.r = random.Random(f"questions {seed}")
        self.world = world
        self.rules = [rule for role in world.roles + world.cluster_roles for rule in role["rules"]]
        tag = world.tag
        self.paths = PATHS + [f"/{tag}", f"/{tag}/aut", f"/{tag}/una/x", f"/{tag}x"]
        self.groups = GROUPS + [f"{tag}.example.com"]

    def _near(self, subject):
        """A question that one of the rules answers with yes, with one field changed by chance."""
        r = self.r
        rule = r.choice(self.rules)
        verb = r.choice([v for v in rule["verbs"] if v != "*"] or VERBS)
        if "nonResourceURLs" in rule:
            path = r.choice(rule["nonResourceURLs"])
            path = path.rstrip("*") + r.choice(["", "x", "/y"]) if path.endswith("*") else path
            return Question(subject, r.choice([verb, "get", "post"]), path=path if r.random() < 0.7 or not path else r.choice(self.paths))
        group = r.choice(rule["apiGroups"])
        resource, _, subresource = r.choice(rule["resources"]).partition("/")
        fields = {
            "verb": verb, "group": r.choice(self.groups) if group == "*" else group,
            "resource": r.choice(["pods", "deployments", "widgets", "configmaps"]) if resource == "*" else resource,
            "subresource": r.choice(["scale", "status", "log"]) if subresource == "*" else subresource,
            "namespace": r.choice(self.world.namespaces + [""]), "name": r.choice(rule.get("resourceNames", ["", "o-0"]))}
        others = {"verb": VERBS + OTHER_VERBS, "group": self.groups, "resource": ["pods", "configmaps", "deployments", "widgets", "things", "*"],
                  "subresource": ["", "scale", "status", "log", "*"], "namespace": self.world.namespaces + ["", "nowhere"],
                  "name": ["", "o-0", "o-1", "o-2", "*"]}
        if r.random() < 0.6:
            changed = r.choice(list(others))
            fields[changed] = r.choice(others[changed])
        return Question(subject, **fields)

    def _far(self, subject):
        """Any question."""
        r = self.r
        if r.random() < 0.15:
            return Question(subject, r.choice(["get", "post", "put"]), path=r.choice(self.paths))
        group = r.choice(self.groups)
        resource, _, subresource = r.choice(RESOURCES.get(group, ["things", "things/scale", "x/scale"])).partition("/")
        return Question(subject, r.choice(VERBS), "", group, resource, subresource, r.choice(self.world.namespaces + ["", "kube-system"]),
                        r.choice(["", "o-0", "o-1"]))

    def questions(self, each):
        """Up to `each` different ones about each subject."""
        for subject in self.world.subjects:
            asked = {}
            for number in range(each):
                asked[self._far(subject) if number % 4 == 0 else self._near(subject)] = True
            yield from asked
