#!/usr/bin/env python3
"""The workloads of the end-to-end test: every kind and style of reference, every annotation, and what each must do.

matrix.py objects            prints them, as a List for kubectl
matrix.py sources VALUE      prints the sources, with this value everywhere
matrix.py started WORKLOADS  what `kubectl get -o json` says after the start: only those rolled that had fallen behind
matrix.py rolled VALUE [VALUE2] WORKLOADS  and after the sources got VALUE, and then `config` alone VALUE2: those that
                             must roll did, once each time, and no other
"""
import dataclasses
import hashlib
import json
import sys

NAMESPACE = "matrix"
FIRST = "first"
GROUP = "reloader.stakater.com"
AUTO = {f"{GROUP}/auto": "true"}
# Name, kind, annotations.
SOURCES = [
    ("config", "ConfigMap", {}), ("secret", "Secret", {}), ("other", "ConfigMap", {}),
    ("matched", "ConfigMap", {f"{GROUP}/match": "true"}), ("ignored", "ConfigMap", {f"{GROUP}/ignore": "true"}),
    ("app.settings-v2", "ConfigMap", {}), ("unused", "Secret", {}),
]
KIND_OF = {name: kind for name, kind, _ in SOURCES}


def digest(value):
    return hashlib.sha1(f"KEY={value}".encode()).hexdigest()


def variable(source):
    name = "".join(c if c.isalnum() else "_" for c in source).upper()
    return f"STAKATER_{name}_{KIND_OF[source].upper()}"


# ---- Styles of reference: (pod spec, by source's name).
def container(name="main", **fields):
    return {"name": name, "image": "localhost/busybox:1", "command": ["sleep", "100000"], **fields}


def pod(*containers, init=(), volumes=()):
    return {"terminationGracePeriodSeconds": 0, "containers": list(containers or [container()]),
            "initContainers": list(init), "volumes": list(volumes)}


def volume_of(name):
    if KIND_OF[name] == "ConfigMap":
        return {"name": "v", "configMap": {"name": name}}
    return {"name": "v", "secret": {"secretName": name}}


def projected_of(name):
    return {"name": "v", "projected": {"sources": [{"configMap" if KIND_OF[name] == "ConfigMap" else "secret": {"name": name}}]}}


MOUNT = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
TRUE = {"command": ["true"]}


def env(name):
    key = "configMapKeyRef" if KIND_OF[name] == "ConfigMap" else "secretKeyRef"
    return {"env": [{"name": "VALUE", "valueFrom": {key: {"name": name, "key": "KEY"}}}]}


def env_from(*names):
    return {"envFrom": [{"configMapRef" if KIND_OF[name] == "ConfigMap" else "secretRef": {"name": name}} for name in names]}


STYLES = {
    "volume": lambda s: pod(container(**MOUNT), volumes=[volume_of(s)]),
    "projected": lambda s: pod(container(**MOUNT), volumes=[projected_of(s)]),
    "env": lambda s: pod(container(**env(s))),
    "env-from": lambda s: pod(container(**env_from(s))),
    "second-container": lambda s: pod(container("first"), container("main", **env(s))),
    "init-volume": lambda s: pod(init=[container("init", **{**MOUNT, **TRUE})], volumes=[volume_of(s)]),
    "init-env": lambda s: pod(init=[container("init", **{**env(s), **TRUE})]),
    "init-env-from": lambda s: pod(init=[container("init", **{**env_from(s), **TRUE})]),
}


@dataclasses.dataclass
class Case:
    """A workload, and for which of the sources it must roll when all of them change."""
    name: str
    spec: dict
    rolls_for: tuple = ()
    annotations: dict = dataclasses.field(default_factory=dict)
    template_annotations: dict = dataclasses.field(default_factory=dict)
    kind: str = "Deployment"
    replicas: int = 0
    state: str = ""  # what a Reloader of old has left in the variable: the digest of this value


def cases():
    for style, build in STYLES.items():
        for source in ("config", "secret"):
            yield Case(f"{style}-{source}", build(source), (source,), AUTO)
    uses = STYLES["env-from"]("config")
    both = pod(container(**env_from("config", "secret")))
    yield Case("both-at-once", both, ("config", "secret"), AUTO)
    yield Case("no-annotation", uses)
    yield Case("auto-false", uses, (), {f"{GROUP}/auto": "false"})
    yield Case("auto-not-used", pod(), (), AUTO)
    yield Case("mounted-nowhere", pod(volumes=[volume_of("config")]), (), AUTO)
    yield Case("typed-auto", both, ("secret",), {f"secret.{GROUP}/auto": "1"})
    yield Case("on-template", uses, ("config",), {}, AUTO)
    yield Case("workload-before-template", uses, (), {f"{GROUP}/auto": "false"}, AUTO)
    yield Case("list-exact", pod(), ("config",), {f"configmap.{GROUP}/reload": "other-one, config"})
    yield Case("list-regex", pod(), ("app.settings-v2",), {f"configmap.{GROUP}/reload": "app\\.settings-v[0-9]+"})
    yield Case("list-malformed", pod(), ("config",), {f"configmap.{GROUP}/reload": "*bad(,config"})
    yield Case("list-of-other-type", pod(), (), {f"secret.{GROUP}/reload": "config"})
    yield Case("search", STYLES["env"]("matched"), ("matched",), {f"{GROUP}/search": "true"})
    yield Case("search-unmatched", uses, (), {f"{GROUP}/search": "true"})
    yield Case("source-ignored", STYLES["env"]("ignored"), (), AUTO)
    yield Case("excluded", both, ("secret",), {**AUTO, f"configmaps.exclude.{GROUP}/reload": "config"})
    # Real pods, under a kubelet.
    yield Case("running", both, ("config", "secret"), AUTO, replicas=2)
    yield Case("stateful", uses, ("config",), AUTO, kind="StatefulSet", replicas=1)
    yield Case("daemon", STYLES["volume"]("secret"), ("secret",), AUTO, kind="DaemonSet")
    # What another operator of this kind has written is taken as it is.
    yield Case("migrated", STYLES["env-from"]("config"), ("config",), AUTO, state=FIRST, replicas=1)
    yield Case("migrated-behind", STYLES["env-from"]("config"), ("config",), AUTO, state="before")


def variables_of(template):
    return {e["name"]: e.get("value") for c in template["spec"]["containers"] for e in c.get("env", [])
            if e["name"].startswith("STAKATER_")}


def workload(case):
    labels = {"app": case.name}
    spec = json.loads(json.dumps(case.spec))
    if case.state:
        spec["containers"][0].setdefault("env", []).append({"name": variable("config"), "value": digest(case.state)})
    body = {"selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels, "annotations": case.template_annotations}, "spec": spec}}
    if case.kind != "DaemonSet":
        body["replicas"] = case.replicas
    if case.kind == "StatefulSet":
        body["serviceName"] = case.name
    return {"apiVersion": "apps/v1", "kind": case.kind, "spec": body,
            "metadata": {"name": case.name, "namespace": NAMESPACE, "annotations": case.annotations}}


def sources(value):
    for name, kind, annotations in SOURCES:
        field = "data" if kind == "ConfigMap" else "stringData"
        yield {"apiVersion": "v1", "kind": kind, field: {"KEY": value},
               "metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations}}


def print_list(items):
    json.dump({"apiVersion": "v1", "kind": "List", "items": list(items)}, sys.stdout)


def by_name(path):
    with open(path, encoding="utf-8") as file:
        return {item["metadata"]["name"]: item for item in json.load(file)["items"]}


def revision(item):
    """How often the pod template was set. A Deployment's generation counts its annotations too."""
    metadata = item["metadata"]
    if item["kind"] == "Deployment":
        return int(metadata["annotations"].get("deployment.kubernetes.io/revision", 0))
    return metadata["generation"]


def compare(path, wanted):
    """wanted(case): the variables and the revision that it must have."""
    found = by_name(path)
    wrong = []
    for case in cases():
        item = found[case.name]
        is_now = variables_of(item["spec"]["template"]), revision(item)
        if is_now != wanted(case):
            wrong.append(f"{case.name}: has (variables, revision) {is_now}, expected {wanted(case)}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(found)} workloads are as they must be")


def after_start(case):
    if not case.state:
        return {}, 1
    return {variable("config"): digest(FIRST)}, 1 if case.state == FIRST else 2


def after_change(value, config_value=""):
    def wanted(case):
        if not case.rolls_for:
            return after_start(case)
        values = {source: config_value if source == "config" and config_value else value for source in case.rolls_for}
        rollouts = 2 if "config" in case.rolls_for and config_value else 1
        return {variable(source): digest(values[source]) for source in values}, after_start(case)[1] + rollouts
    return wanted


def main(arguments):
    match arguments:
        case ["objects"]:
            print_list([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, *sources(FIRST),
                        *map(workload, cases())])
        case ["sources", value]:
            print_list(sources(value))
        case ["started", path]:
            compare(path, after_start)
        case ["rolled", value, path]:
            compare(path, after_change(value))
        case ["rolled", value, config_value, path]:
            compare(path, after_change(value, config_value))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
