"""Approvals and answers of CertificateSigningRequests: they need a right of their own for the signer, or for all of its domain.

They are dry runs, so that all of them mean requests that nobody has answered.
"""

import base64

from generator import MERGE_PATCH, Request
from rbac_policy import RBAC

GROUP = "certificates.k8s.io"
PATH = f"/apis/{GROUP}/v1/certificatesigningrequests"
SIGNERS = ["example.com/one", "example.com/two", "other.org/one"]
DRY = "?dryRun=All"


def _text(file):
    return base64.b64encode(file.read_bytes()).decode()


class Approvals:
    """What the subjects of a World try with requests of several signers."""

    def __init__(self, world, request, certificate):
        """`request` and `certificate` are files: what is asked for, and an answer to it."""
        self.world = world
        self._request, self._certificate = _text(request), _text(certificate)
        self._names = {signer: f"{world.tag}-csr-{number}" for number, signer in enumerate(SIGNERS)}

    def grant(self):
        """Adds the rights to the World: to answer at all, and for signers."""
        both = ["certificatesigningrequests/approval", "certificatesigningrequests/status"]
        self._bind("answer", [("update patch", both, [])], "alice", "bob", "carol", "dave", "robot")
        self._bind("approve-domain", [("approve", ["signers"], ["example.com/*"])], "alice")
        self._bind("sign-one", [("sign", ["signers"], ["example.com/one"]), ("approve", ["signers"], ["other.org/*"])], "bob")
        self._bind("approve-names", [("approve sign", ["signers"], ["example.com", "*", "other.org/two"])], "carol")
        self._bind("sign-all", [("sign", ["signers"], [])], "dave")
        self._bind("approve-star", [("*", ["signers/approve", "*/approval"], [])], "robot")

    def _bind(self, name, rules, *labels):
        meta = {"name": f"{self.world.tag}-{name}", "labels": {"rbac-test": self.world.tag}}
        self.world.cluster_roles.append({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": meta, "rules": [
            {"verbs": verbs.split(), "apiGroups": [GROUP], "resources": resources} | ({"resourceNames": names} if names else {})
            for verbs, resources, names in rules]})
        subjects = [{"kind": "User", "apiGroup": RBAC, "name": self.world.subject(label).user} for label in labels]
        self.world.cluster_bindings.append({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": meta, "subjects": subjects,
                                            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": meta["name"]}})

    def objects(self):
        """(path, object) of the requests."""
        for signer, name in self._names.items():
            yield PATH, {"apiVersion": f"{GROUP}/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name, "labels": {"rbac-test": self.world.tag}},
                         "spec": {"request": self._request, "signerName": signer, "usages": ["client auth"]}}

    def _patch(self, name, subresource, status):
        return Request("patch", f"certificatesigningrequests/{subresource}", "PATCH", f"{PATH}/{name}/{subresource}{DRY}", {"status": status}, MERGE_PATCH)

    def requests(self):
        """(subject, request): everybody tries everything."""
        condition = {"status": "True", "reason": "r", "message": "m"}
        for label in ("alice", "bob", "carol", "dave", "erin", "robot", "master"):
            for name in [*self._names.values(), f"{self.world.tag}-csr-none"]:
                for kind in ("Approved", "Denied"):
                    yield self.world.subject(label), self._patch(name, "approval", {"conditions": [condition | {"type": kind}]})
                for status in ({"certificate": self._certificate}, {"conditions": [condition | {"type": "Failed"}]}, {}):
                    yield self.world.subject(label), self._patch(name, "status", status)
                yield self.world.subject(label), Request("patch", "certificatesigningrequests", "PATCH", f"{PATH}/{name}{DRY}",
                                                         {"spec": {"signerName": SIGNERS[0]}}, MERGE_PATCH)


def clean_up(side, selector):
    """Of all runs with `selector`."""
    side.must("DELETE", f"{PATH}?labelSelector={selector}")

