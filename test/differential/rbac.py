#!/usr/bin/env python3
"""Asks kube-apiserver and kubexx-apiserver, with the same generated Roles and bindings, who may do what, and compares.

Users with client certificates of one authority and a service account with its token send real requests; the administrator asks
SubjectAccessReviews about them and about others. Verdicts, reasons and the words of refusals have to be the same. Whatever
differs and is not in rbac_known.py fails the test, with the command that shows it again.

The kube-apiserver has to be one of hack/cluster: the key of its authority signs the certificates. Nobody has to run the
controller of aggregated ClusterRoles; their rules are written as it would.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import RemoteDisconnected
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "apiserver"))

from differential import show  # noqa: E402
from generator import MERGE_PATCH, Request  # noqa: E402
from normalise import differences  # noqa: E402
import rbac_approvals  # noqa: E402
from rbac_escalation import Escalation, grant_writers  # noqa: E402
from rbac_known import unknown  # noqa: E402
from rbac_policy import RBAC_PATH, Asker, PolicyMaker, authenticated  # noqa: E402
from rbac_requests import Requester, objects_of, odd_reviews  # noqa: E402
from servers import Answer, ApiServer, Client, Target  # noqa: E402

SETTLED_WITHIN = 30.0  # seconds
REVIEWS = "/apis/authorization.k8s.io/v1"


class Certificates:
    """Client certificates of a cluster's authority."""

    def __init__(self, pki, folder):
        self._pki, self._folder = Path(pki), Path(folder)
        self.authority = self._pki / "ca.crt"
        self._extensions = self._folder / "client.ext"
        self._extensions.write_text("keyUsage=digitalSignature\nextendedKeyUsage=clientAuth\n")

    def sign(self, subject):
        """The path of a file with certificate and key."""
        name = "".join(f"/O={group}" for group in subject.groups) + f"/CN={subject.user}"
        base = self._folder / subject.label
        run = [["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", name,
                "-keyout", f"{base}.key", "-out", f"{base}.csr"],
               ["openssl", "x509", "-req", "-in", f"{base}.csr", "-CA", self.authority, "-CAkey", self._pki / "ca.key", "-days", "2",
                "-set_serial", str(time.time_ns()), "-extfile", self._extensions, "-out", f"{base}.crt"]]
        for command in run:
            subprocess.run(command, check=True, capture_output=True)
        (self._folder / f"{subject.label}.pem").write_text(Path(f"{base}.crt").read_text() + Path(f"{base}.key").read_text())
        return f"{base}.pem"


    def request(self):
        """The file of a request for a certificate that no subject has."""
        base = self._folder / "asked"
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=asked",
                        "-keyout", f"{base}.key", "-out", f"{base}.csr"], check=True, capture_output=True)
        return Path(f"{base}.csr")


def send(client, request):
    """The answer; over a new connection when the server has closed one on which nothing was asked for long."""
    for last in (False, True):
        try:
            return client.request(request.method, request.path, request.body, request.content_type, request.headers)
        except RemoteDisconnected:
            if last:
                raise


class Side:
    """One of the two servers, as all subjects see it."""

    def __init__(self, name, target):
        self.name = name
        self._target = target
        self.admin = Client(target)
        self._targets, self._clients = {}, {}

    def let_in(self, subject, certificate):
        """From here on the subject can ask, with the certificate or with its account's token."""
        token = None
        if subject.account:
            namespace, name = subject.account
            answer = self.must("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
                               {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
            token = answer["status"]["token"]
        self._targets[subject.label] = self._target.with_credentials(token=token, certificate=certificate)
        self._clients[subject.label] = Client(self._targets[subject.label])

    def must(self, method, path, body=None, content_type="application/json", accepted=()):
        """The administrator's request; its body."""
        answer = send(self.admin, Request("", "", method, path, body, content_type))
        if answer.code >= 300 and answer.code not in accepted:
            raise RuntimeError(f"{self.name}: {method} {path}: {answer.code} {answer.body}")
        return answer.body

    def ask(self, asked):
        """The verdict on a subject's request, as a tree that can be compared."""
        subject, request = asked
        if request.watch:
            connection = self._targets[subject.label].connect()
            try:
                connection.request("GET", request.path, headers={**self._targets[subject.label].headers, **request.headers})
                got = connection.getresponse()
                answer = Answer(got.status, "", b"" if got.status == 200 else got.read())
            finally:
                connection.close()
        else:
            answer = send(self._clients[subject.label], request)
        return verdict(request, answer)

    def reviews(self, questions):
        """The status of a SubjectAccessReview for each question."""
        return [verdict(review, send(self.admin, review)) for review in questions]

    def settle(self, sentinel):
        """Returns when the review is allowed: by then the server has seen what was written before it."""
        deadline = time.monotonic() + SETTLED_WITHIN
        while not self.must(sentinel.method, sentinel.path, sentinel.body)["status"]["allowed"]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} does not see the Roles within {SETTLED_WITHIN} s")
            time.sleep(0.02)

    def close(self):
        for client in [self.admin, *self._clients.values()]:
            client.close()


ALLOWED_BY = re.compile(r'"[^"]*" of (ClusterRole|Role) "[^"]*" to (User|Group|ServiceAccount) "[^"]*"')
MISSING = re.compile(r"RBAC: \[(.*)\]")


def words(text):
    """Which of several bindings is told first, and in which order several missing roles, is up to chance."""
    text = ALLOWED_BY.sub('"..." of ...', text).replace("by ClusterRoleBinding", "by RoleBinding")
    return MISSING.sub(lambda found: "RBAC: [" + ", ".join(sorted(found[1].split(", "))) + "]", text)


def verdict(request, answer):
    """What of an answer has to be the same: for refusals all, of success that it is one, and what reviews say."""
    body = answer.body if isinstance(answer.body, dict) else {}
    if answer.code >= 300:
        said = {"code": answer.code}
        if request.method != "HEAD" and body:  # Not the text of a path that there is not.
            said["reason"] = body.get("reason")
        if request.method != "HEAD" and answer.code == 403:
            said |= {"message": words(body.get("message", "")), "details": body.get("details")}
        return said
    said = {"code": answer.code}
    status = body.get("status") or {}
    if request.resource in ("subjectaccessreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews"):
        said["status"] = status | ({"reason": words(status["reason"])} if "reason" in status else {})
    elif request.resource == "selfsubjectrulesreviews":
        rules = {key: sorted(json.dumps(one, sort_keys=True) for one in status.get(key) or []) for key in ("resourceRules", "nonResourceRules")}
        missing = sorted(re.split(", ", (status.get("evaluationError") or "").strip("[]")))
        said["status"] = rules | {"incomplete": status.get("incomplete"), "evaluationError": missing}
    elif request.resource == "selfsubjectreviews":
        # The uid of an account and what a certificate adds to extra are each server's own.
        said["user"] = {key: value for key, value in status["userInfo"].items() if key in ("username", "groups")}
    return said


def review_of(question):
    """The SubjectAccessReview that asks it."""
    subject = question.subject
    spec = {"user": subject.user, "groups": authenticated(subject)} | question.attributes()
    return Request("create", "subjectaccessreviews", "POST", f"{REVIEWS}/subjectaccessreviews",
                   {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec})


def rules_reviews(world):
    """What all subjects may do in each namespace, as they see it."""
    for subject in world.subjects:
        for namespace in [*world.namespaces, "kube-system", ""] if subject.known else []:
            yield subject, Request("create", "selfsubjectrulesreviews", "POST", f"{REVIEWS}/selfsubjectrulesreviews",
                                   {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace}})


def aggregated(roles):
    """(name, rules) of the ClusterRoles whose rules are not those of what they select, as their controller would write them."""
    for role in roles:
        selectors = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
        rules = []
        for selector in selectors:
            for other in sorted(roles, key=lambda one: one["metadata"]["name"]):
                if other is not role and _selects(selector, other["metadata"].get("labels") or {}):
                    rules += [rule for rule in other.get("rules") or [] if rule not in rules]
        if selectors and rules != (role.get("rules") or []):
            yield role["metadata"]["name"], rules


def _selects(selector, labels):
    """As far as the test's own selectors, and those of the built-in roles, go."""
    return (all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()) and
            all(labels.get(one["key"]) in one["values"] for one in selector.get("matchExpressions") or []))


def prepare(world, side, more):
    """Makes the World's objects, and `more`, and takes away what a run that was cut off has left for everybody."""
    clean_up(side, "rbac-test", [])
    for namespace in world.namespaces:
        side.must("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    for path, made in objects_of(world):
        side.must("POST", path, made, accepted=(409,))
    for path, made in [*world.objects(), *more]:
        side.must("POST", path, made)
    if side.name == "kube-apiserver":
        while changed := list(aggregated(side.must("GET", f"{RBAC_PATH}/clusterroles")["items"])):  # One may select another.
            for name, rules in changed:
                side.must("PATCH", f"{RBAC_PATH}/clusterroles/{name}", {"rules": rules}, MERGE_PATCH)
    await_all(world, side)


def await_all(world, side):
    """A role and a binding of each type, made last, that the server has to know."""
    meta = {"name": f"{world.tag}-zz", "labels": {"rbac-test": world.tag}}
    path = f"{RBAC_PATH}/namespaces/{world.namespaces[0]}"
    for of, kind in ((path, "Role"), (RBAC_PATH, "ClusterRole")):
        who = f"{world.tag}:last-{kind}"
        side.must("POST", f"{of}/{kind.lower()}s", {"metadata": meta, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]})
        side.must("POST", f"{of}/{kind.lower()}bindings", {"metadata": meta, "roleRef": {"kind": kind, "name": meta["name"]},
                                                          "subjects": [{"kind": "User", "name": who}]})
        spec = {"user": who, "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": world.namespaces[0]}}
        side.settle(Request("create", "subjectaccessreviews", "POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec}))


def clean_up(side, selector, namespaces):
    """What is of the whole cluster; namespaces go when somebody finishes them."""
    for plural in ("clusterrolebindings", "clusterroles"):
        side.must("DELETE", f"{RBAC_PATH}/{plural}?labelSelector={selector}")
    rbac_approvals.clean_up(side, selector)
    for namespace in namespaces:
        side.must("DELETE", f"/api/v1/namespaces/{namespace}")


class Comparison:
    """Counts what was compared and prints what differs."""

    def __init__(self, sides, seed, go_on):
        self._sides, self._seed, self._go_on = sides, seed, go_on
        self.counts, self.different, self.codes = Counter(), 0, Counter()

    def compare(self, what, subject, request, real, ours):
        self.counts[what] += 1
        self.codes[f"{what} {real['code']}" + (f" {real['status'].get('allowed')}" if "allowed" in real.get("status", {}) else "")] += 1
        found = unknown(request, f"{real['code']}/{ours['code']}", differences(real, ours))
        if found:
            self.different += 1
            print(f"seed {self._seed}, {what} {self.counts[what]}, as {subject.label} ({subject.user}):\n{show(request, self._sides, found)}", flush=True)
        return self._go_on or not found

    def each(self, what, asked):
        """Sends each request to both servers; False to stop."""
        with ThreadPoolExecutor(2) as both:
            for subject, request in asked:
                real, ours = both.map(lambda side, one=(subject, request): side.ask(one), self._sides)
                if not self.compare(what, subject, request, real, ours):
                    return False
        return True

    def reviews(self, questions):
        """Asks each server all of them, at its own pace; False to stop."""
        questions = list(questions)
        reviews = [review_of(question) for question in questions]
        with ThreadPoolExecutor(2) as both:
            answers = both.map(lambda side: side.reviews(reviews), self._sides)
        for question, review, real, ours in zip(questions, reviews, *answers):
            if not self.compare("verdicts", question.subject, review, real, ours):
                return False
        return True


def run(options, sides, certificates):
    """The exit status."""
    # Nobody finishes namespaces here: those of an earlier run are still there.
    tag = f"rbac-{options.seed}-{format(int(time.time()), 'x')}"
    world = PolicyMaker(options.seed, tag).world()
    grant_writers(world)
    approvals = rbac_approvals.Approvals(world, certificates.request(), certificates.authority)
    approvals.grant()
    signed = {one.label: certificates.sign(one) for one in world.subjects if one.known and not one.account}
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda side: prepare(world, side, approvals.objects()), sides))
    for side in sides:
        for subject in world.subjects:
            if subject.known:
                side.let_in(subject, signed.get(subject.label))
    comparison = Comparison(sides, options.seed, options.all)
    requester = Requester(options.seed, world)
    began = time.monotonic()
    try:
        same = (comparison.reviews(Asker(options.seed, world).questions(options.questions)) and
                comparison.each("lists of rules", rules_reviews(world)) and
                comparison.each("requests", requester.requests(options.requests)) and
                comparison.each("impersonations", requester.impersonations()) and
                comparison.each("paths through namespaces", requester.within_namespaces()) and
                comparison.each("odd reviews", odd_reviews(world)) and
                comparison.each("approvals", approvals.requests()) and
                comparison.each("attempts to escalate", Escalation(options.seed, world).requests(options.attempts)))
    finally:
        for side in sides:
            clean_up(side, f"rbac-test%3D{tag}", world.namespaces)
            side.close()
    if comparison.different:
        print(f"{comparison.different} differ; again: test/differential/rbac.py --real {options.real} --seed {options.seed}" +
              f" --questions {options.questions} --requests {options.requests} --attempts {options.attempts} --all")
    print(f"seed {options.seed}: {len(world.subjects)} subjects, {sum(1 for _ in world.objects())} Roles and bindings; " +
          ", ".join(f"{count} {what}" for what, count in comparison.counts.items()) + f" in {time.monotonic() - began:.1f} s")
    if options.codes:
        print("\n".join(f"  {what}: {count}" for what, count in sorted(comparison.codes.items())))
    return 0 if same and not comparison.different else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", default=os.environ.get("KUBEXX_TEST_KUBECONFIG"), help="kubeconfig of a kube-apiserver of hack/cluster")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, default=350, help="about each subject")
    parser.add_argument("--requests", type=int, default=150, help="of each subject that can show who it is")
    parser.add_argument("--attempts", type=int, default=400, help="to give more than one has")
    parser.add_argument("--all", action="store_true", help="go on after a difference")
    parser.add_argument("--codes", action="store_true", help="print how often each answer came")
    options = parser.parse_args()
    if not options.real:
        sys.exit("rbac.py: no kube-apiserver: give --real, or run it with: hack/test --integration -R rbac_differential")
    with tempfile.TemporaryDirectory() as folder:
        certificates = Certificates(Path(options.real).resolve().parent / "pki", folder)
        server = ApiServer(folder, "--authorization-mode", "RBAC", "--client-ca-file", str(certificates.authority))
        server.start()
        try:
            return run(options, [Side("kube-apiserver", Target(options.real)), Side("kubexx-apiserver", Target(str(server.kubeconfig)))], certificates)
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
