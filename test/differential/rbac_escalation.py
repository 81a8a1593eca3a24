"""Attempts to give more than one has: Roles and bindings that are made and changed by those who may write them.

What stays of them is nobody's, so that everybody keeps the rights that they had.
"""

import random

from generator import JSON_PATCH, MERGE_PATCH, Request
from rbac_policy import RBAC, RBAC_PATH, PolicyMaker

DRY = "?dryRun=All"
APPLY = "application/apply-patch+yaml"
WRITE = ["get", "list", "create", "update", "patch", "delete"]


def grant_writers(world):
    """Adds to the World the right to write Roles and bindings, and the verbs that go further for some."""
    tag, first = world.tag, world.namespaces[0]

    def cluster_role(name, verbs, resources, names=()):
        rule = {"verbs": verbs, "apiGroups": [RBAC], "resources": resources} | ({"resourceNames": list(names)} if names else {})
        return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": f"{tag}-{name}", "labels": {"rbac-test": tag}}, "rules": [rule]}

    def bind(name, role, *labels, namespace=""):
        subjects = [{"kind": "User", "apiGroup": RBAC, "name": world.subject(label).user} for label in labels]
        metadata = {"name": f"{tag}-{name}", "labels": {"rbac-test": tag}} | ({"namespace": namespace} if namespace else {})
        made = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding", "metadata": metadata, "subjects": subjects,
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"{tag}-{role}"}}
        (world.bindings if namespace else world.cluster_bindings).append(made)

    world.cluster_roles += [
        cluster_role("writer", WRITE, ["roles", "clusterroles", "rolebindings", "clusterrolebindings"]),
        cluster_role("escalate", ["escalate"], ["roles", "clusterroles"]),
        cluster_role("escalate-one", ["escalate"], ["clusterroles", "roles"], [f"{tag}-c-3", "r-1"]),
        cluster_role("bind", ["bind"], ["roles", "clusterroles"]),
        cluster_role("bind-some", ["bind"], ["clusterroles", "roles"], [f"{tag}-c-1", f"{tag}-c-2", "r-1", "view", f"{tag}-missing"])]
    act = cluster_role("actor", ["impersonate"], ["users"], [world.subject("alice").user, world.subject("bob").user, "system:anonymous"])
    act["rules"][0]["apiGroups"] = [""]
    act["rules"] += [
        {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["groups"], "resourceNames": [f"{tag}:devs", "system:unauthenticated"]},
        {"verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"], "resources": ["uids"], "resourceNames": ["7"]},
        {"verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"], "resources": ["userextras/scopes"], "resourceNames": ["view"]}]
    accounts = cluster_role("account-actor", ["impersonate"], ["serviceaccounts"])
    accounts["rules"][0]["apiGroups"] = [""]
    world.cluster_roles += [act, accounts]
    world.bindings.append({
        "apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": f"{tag}-owner", "namespace": first, "labels": {"rbac-test": tag}},
        "subjects": [{"kind": "User", "apiGroup": RBAC, "name": world.subject("owner").user}],
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}})
    bind("writer", "writer", "alice", "bob", "carol", "dave", "erin", "robot")
    bind("escalate", "escalate", "dave", namespace=first)
    bind("escalate-one", "escalate-one", "carol", "alice")
    bind("bind", "bind", "erin", namespace=first)
    bind("bind-some", "bind-some", "bob")
    bind("actor", "actor", "alice", "robot")
    bind("account-actor", "account-actor", "bob", namespace=first)


class Escalation:
    """Writes of one World."""

    def __init__(self, seed, world):
        self.r = random.Random(f"escalation {seed}")
        self.world = world
        self._maker = PolicyMaker(f"escalation {seed}", world.tag)
        self._writers = [world.subject(label) for label in ("alice", "bob", "carol", "dave", "erin", "owner", "robot", "nobody", "master")]
        self._roles = {(role["metadata"].get("namespace", ""), role["metadata"]["name"]): role for role in world.roles + world.cluster_roles}
        self._number = 0

    def _held(self, subject):
        """Rules of some of the roles that the subject has, wherever."""
        found = []
        for binding in self.world.bindings + self.world.cluster_bindings:
            namespace = binding["metadata"].get("namespace", "")
            if any(one["name"] in (subject.user, *subject.groups, *subject.account[1:]) for one in binding.get("subjects", [])):
                of = namespace if binding["roleRef"]["kind"] == "Role" else ""
                found += self._roles.get((of, binding["roleRef"]["name"]), {"rules": []})["rules"]
        return found

    def _rules(self, subject, namespaced):
        """What the subject has, less or more."""
        r = self.r
        held = [rule for rule in self._held(subject) if not (namespaced and "nonResourceURLs" in rule)]
        rules = []
        for _ in range(r.randrange(1, 4)):
            if not held or r.random() < 0.25:
                rules.append(self._maker.rule(namespaced))
                continue
            rule = {key: list(value) for key, value in r.choice(held).items()}
            change = r.random()
            if change < 0.2:
                rule["verbs"] = r.choice([["*"], rule["verbs"] + ["delete"], rule["verbs"][:1]])
            elif change < 0.35 and "resources" in rule:
                rule["resources"] = r.choice([["*"], [rule["resources"][0].split("/")[0] + "/scale"], ["pods/status", "*/scale"]])
            elif change < 0.45 and "resources" in rule:
                rule["resourceNames"] = rule.get("resourceNames", []) + ["o-1"]
            elif change < 0.55:
                rule.pop("resourceNames", None)
            rules.append(rule)
        return rules

    def _new_name(self):
        self._number += 1
        return f"{self.world.tag}-e-{self._number}"

    def _role_path(self, namespace, name=""):
        return (f"{RBAC_PATH}/namespaces/{namespace}/roles" if namespace else f"{RBAC_PATH}/clusterroles") + (f"/{name}" if name else "")

    def _binding_path(self, namespace, name=""):
        return (f"{RBAC_PATH}/namespaces/{namespace}/rolebindings" if namespace else f"{RBAC_PATH}/clusterrolebindings") + (f"/{name}" if name else "")

    def _role(self, namespace, name, **rest):
        metadata = {"name": name, "labels": {"rbac-test": self.world.tag}} | ({"namespace": namespace} if namespace else {})
        return {"apiVersion": f"{RBAC}/v1", "kind": "Role" if namespace else "ClusterRole", "metadata": metadata} | rest

    def write_role(self, subject):
        """A new role, or another one's rules, labels or aggregation."""
        r = self.r
        namespace = r.choice(self.world.namespaces + [""])
        rules = self._rules(subject, bool(namespace))
        kind = r.choice(["create", "create", "update", "patch", "meta", "aggregate"])
        if kind == "create":
            rest = {"rules": rules} | ({"aggregationRule": {"clusterRoleSelectors": [{}]}} if not namespace and r.random() < 0.1 else {})
            return Request("create", "roles", "POST", self._role_path(namespace) + r.choice(["", DRY]), self._role(namespace, self._new_name(), **rest))
        name = r.choice([name for of, name in self._roles if of == namespace])
        path = self._role_path(namespace, name) + DRY
        if kind == "update":
            return Request("update", "roles", "PUT", path, self._role(namespace, name, rules=rules))
        if kind == "patch":
            if r.random() < 0.3:
                return Request("patch", "roles", "PATCH", path, [{"op": "add", "path": "/rules/0", "value": rules[0]}], JSON_PATCH)
            if r.random() < 0.4:
                return Request("patch", "roles", "PATCH", path + "&fieldManager=m&force=true", self._role(namespace, name, rules=rules), APPLY)
            return Request("patch", "roles", "PATCH", path, {"rules": rules}, MERGE_PATCH)
        if kind == "meta":
            return Request("patch", "roles", "PATCH", path, self._metadata(), MERGE_PATCH)
        change = r.choice([None, {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}])
        return Request("patch", "clusterroles", "PATCH", self._role_path("", r.choice([f"{self.world.tag}-sum-0", f"{self.world.tag}-c-3"])) + DRY,
                       {"aggregationRule": change}, MERGE_PATCH)

    def _metadata(self):
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o-0", "uid": "00000000-0000-4000-8000-000000000000"}
        return {"metadata": self.r.choice([{"labels": {"a": "b"}}, {"annotations": {"a": "b"}}, {"finalizers": ["example.com/f"]},
                                           {"ownerReferences": [owner]}, {"finalizers": ["example.com/f"], "labels": {"a": "b"}}])}

    def _reference(self, namespace):
        """A role that a binding in `namespace` may name."""
        tag = self.world.tag
        if namespace and self.r.random() < 0.5:
            return {"apiGroup": RBAC, "kind": "Role", "name": f"r-{self.r.randrange(9)}"}
        name = self.r.choice([f"{tag}-c-{n}" for n in range(15)] + ["view", "edit", "admin", "cluster-admin", f"{tag}-missing", f"{tag}-sum-0"])
        return {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}

    def write_binding(self, subject):
        """A new binding, or another one's subjects, labels or role."""
        del subject
        r, tag = self.r, self.world.tag
        namespace = r.choice(self.world.namespaces + [""])
        stranger = {"kind": "User", "apiGroup": RBAC, "name": f"{tag}:stranger"}
        kind = r.choice(["create", "create", "create", "update", "subjects", "meta"])
        reference = self._reference(namespace)
        new = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding", "subjects": [stranger], "roleRef": reference}
        if kind == "create":
            new["metadata"] = {"name": self._new_name(), "labels": {"rbac-test": tag}}
            return Request("create", "bindings", "POST", self._binding_path(namespace) + r.choice(["", DRY]), new)
        made = self.world.bindings if namespace else self.world.cluster_bindings
        old = r.choice([one for one in made if one["metadata"].get("namespace", "") == namespace])
        path = self._binding_path(namespace, old["metadata"]["name"]) + DRY
        if kind == "update":
            new["metadata"] = {"name": old["metadata"]["name"]}
            new["roleRef"] = r.choice([reference, old["roleRef"], old["roleRef"]])
            return Request("update", "bindings", "PUT", path, new)
        return Request("patch", "bindings", "PATCH", path, {"subjects": [stranger]} if kind == "subjects" else self._metadata(), MERGE_PATCH)

    def bad(self):
        """Bindings and rules that are none, for whoever may write everything, and for whoever may not."""
        namespace, tag = self.world.namespaces[0], self.world.tag
        role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
        subjects = [
            [{"kind": "User", "name": "u"}], [{"kind": "Group", "name": "g"}], [{"kind": "ServiceAccount", "name": "robot"}],
            [{"kind": "ServiceAccount", "name": "robot", "namespace": namespace, "apiGroup": RBAC}], [{"kind": "Foo", "name": "u"}],
            [{"kind": "User", "name": ""}], [{"kind": "User", "name": "u", "apiGroup": "example.com"}], [{"name": "u"}], None, [],
            [{"kind": "User", "name": "u", "namespace": namespace}], [{"kind": "ServiceAccount", "name": "Not Good", "namespace": namespace}]]
        references = [role | change for change in ({"kind": "Role"}, {"kind": "Foo"}, {"apiGroup": "example.com"}, {"apiGroup": ""}, {"name": ""},
                                                   {"name": "a/b"}, {"kind": ""}, {"name": f"{tag}-missing"}, {"kind": "Role", "name": "r-8"})]
        good = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
        rules = [[good | change] for change in ({"verbs": []}, {"apiGroups": []}, {"resources": []}, {"nonResourceURLs": ["/a"]}, {"verbs": [""]},
                                                {"resourceNames": [""]}, {"apiGroups": ["*", "apps"]}, {"resources": ["pods/"]})]
        rules += [[{"verbs": ["get"], "nonResourceURLs": urls}] for urls in (["/a"], ["a"], ["/a*b"], [""], ["/healthz/*"])]
        for of in (namespace, ""):
            for listed, reference in [(one, role) for one in subjects] + [(subjects[0], one) for one in references]:
                body = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding" if of else "ClusterRoleBinding", "roleRef": reference,
                        "metadata": {"name": f"{tag}-bad"}} | ({} if listed is None else {"subjects": listed})
                yield Request("create", "bindings", "POST", self._binding_path(of) + DRY, body)
            for listed in rules:
                yield Request("create", "roles", "POST", self._role_path(of) + DRY, self._role(of, f"{tag}-bad", rules=listed))
        elsewhere = self._role(self.world.namespaces[1], f"{tag}-bad", rules=[good])
        yield Request("create", "roles", "POST", self._role_path(namespace) + DRY, elsewhere)

    def requests(self, count):
        """(subject, request): `count` of those who may write, and the bad ones."""
        for number in range(count):
            subject = self.r.choice(self._writers)
            yield subject, (self.write_role if number % 2 == 0 else self.write_binding)(subject)
        for request in self.bad():
            yield from ((self.world.subject(label), request) for label in ("master", "alice", "erin"))
