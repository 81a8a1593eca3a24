"""Makes objects that somebody might get wrong, and compares what both servers refuse and what they fill in. forms.py calls it."""

import base64
import json

_MIB = 1 << 20


def _encoded(text):
    return base64.b64encode(text.encode()).decode()


# What a ConfigMap and what a Secret may have.
CONFIG_MAPS = [
    {"data": {"k": "v"}, "binaryData": {"k": _encoded("x")}}, {"data": {"a": "v" * _MIB}}, {"data": {"a": "v" * (_MIB + 1)}},
    {"binaryData": {"a": _encoded("v" * _MIB)}}, {"binaryData": {"a": _encoded("v" * (_MIB + 1))}},
    {"data": {"a": "\u00e4" * (_MIB // 4)}, "binaryData": {"b": _encoded("v" * (_MIB // 2 + 1))}}, {"data": {"k": None}},
] + [{"data": {key: "v"}} for key in ("a b", "..", ".", "..a", "a/b", "", "a" * 254, "a" * 253, "_")]
SECRETS = [{"data": {"a": _encoded("v" * _MIB)}}, {"data": {"a": _encoded("v" * (_MIB + 1))}}, {"stringData": {"a": "v" * (_MIB + 1)}}] + [
    {"type": f"kubernetes.io/{kind}", "stringData": data} for kind, data in (
        ("dockerconfigjson", {".dockerconfigjson": "x"}), ("dockerconfigjson", {".dockerconfigjson": "{}"}), ("dockerconfigjson", {".dockerconfigjson": "[]"}),
        ("dockerconfigjson", {".dockerconfigjson": ""}), ("dockerconfigjson", {}), ("dockerconfigjson", {".dockerconfigjson": '{"a":' + "[" * 9998 + "]" * 9998 + "}"}),
        ("dockerconfigjson", {".dockerconfigjson": '{"a":' + "[" * 10000 + "]" * 10000 + "}"}), ("dockercfg", {".dockercfg": '{"a":' + "[" * 600 + "]" * 600 + "}"}), ("dockercfg", {".dockercfg": "x"}), ("dockercfg", {".dockercfg": "null"}),
        ("ssh-auth", {"ssh-privatekey": ""}), ("ssh-auth", {"ssh-privatekey": "x"}), ("tls", {"tls.crt": ""}), ("basic-auth", {"username": ""}),
        ("service-account-token", {}))]
# Of a container.
RESOURCES = [
    {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}, {"limits": {"cpu": "1"}, "requests": {"cpu": "1000m"}},
    {"limits": {"memory": "1Gi"}, "requests": {"memory": "2G"}}, {"limits": {"a.b/c": "2"}, "requests": {"a.b/c": "1"}}, {"requests": {"a.b/c": "1"}},
    {"limits": {"a.b/c": "1"}}, {"limits": {"a.b/c": "1500m"}}, {"limits": {"cpu": "-1"}}, {"requests": {"cpu": "-1"}},
    {"limits": {"hugepages-2Mi": "4Mi", "memory": "1Gi"}}, {"limits": {"hugepages-2Mi": "3Mi", "memory": "1Gi"}}, {"limits": {"hugepages-2Mi": "4Mi"}},
    {"limits": {"hugepages-2Mi": "4Mi", "memory": "1Gi"}, "requests": {"hugepages-2Mi": "2Mi"}}, {"requests": {"hugepages-2Mi": "2Mi", "cpu": "1"}},
    {"limits": {"hugepages-x": "4Mi", "cpu": "1"}}, {"limits": {"storage": "1"}}, {"limits": {"pods": "1"}}, {"limits": {"foo": "1"}}, {"limits": {"a b": "1"}},
    {"limits": {"kubernetes.io/x": "1"}}, {"limits": {"requests.a.b/c": "1"}}, {"limits": {"cpu": "abc"}}, {"limits": {"cpu": ""}}, {"limits": {"cpu": "1 "}},
    {"limits": {"cpu": None}}, {"limits": {"cpu": 1.5}}, {"limits": {"cpu": "100u"}}, {"limits": {"cpu": "1.0005"}}, {"limits": {"memory": "0.5"}},
    {"limits": {"cpu": "0"}, "requests": {"cpu": "0"}}, {"claims": [{"name": "x"}]}, {"claims": [{"name": ""}]}, {"limits": {"a.b/" + "c" * 60: "1"}},
    {"limits": {"a.b/c": "9E"}}, {"limits": {"a.b/c": "9223372036854775807"}}, {"limits": {"a.b/c": "1.5"}},
    {"limits": {"ephemeral-storage": "1Gi"}, "requests": {"ephemeral-storage": "2Gi"}},
]


def _having(resources, **members):
    return {"name": "c", "image": "i", "resources": resources} | members


_PLAIN = {"name": "c", "image": "i"}
# Of a pod, its containers, and those that run before.
POD_RESOURCES = [
    ({"limits": {"cpu": "2"}}, [_PLAIN], []),
    ({"limits": {"cpu": "2", "memory": "1Gi"}}, [_having({"requests": {"cpu": "500m"}}), _having({"requests": {"cpu": "250m"}}, name="d")], []),
    ({"limits": {"cpu": "2"}}, [_having({"limits": {"cpu": "1"}})], []),
    ({"limits": {"cpu": "2"}}, [_having({"requests": {"memory": "64Mi"}})], [_having({"requests": {"cpu": "1", "memory": "128Mi"}}, name="i")]),
    ({"limits": {"cpu": "2"}}, [_having({"requests": {"memory": "64Mi"}})],
     [_having({"requests": {"cpu": "1", "memory": "128Mi"}}, name="s", restartPolicy="Always"), _having({"requests": {"cpu": "200m"}}, name="i")]),
    ({"requests": {"cpu": "1"}}, [_having({"limits": {"cpu": "1"}})], []), ({"requests": {"cpu": "1"}}, [_having({"limits": {"cpu": "2"}})], []),
    ({"limits": {"cpu": "1"}}, [_having({"limits": {"cpu": "2"}})], []), ({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}, [_PLAIN], []),
    ({"limits": {"cpu": "1"}}, [_having({"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}})], []),
    ({"requests": {"cpu": "1"}}, [_having({"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}}), _having({"limits": {"hugepages-2Mi": "2Mi", "cpu": "0"}}, name="d")], []),
    ({"requests": {"hugepages-2Mi": "2Mi", "cpu": "1"}}, [_having({"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}})], []),
    ({"limits": {"hugepages-2Mi": "2Mi", "cpu": "1"}}, [_having({"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}})], []),
    ({"limits": {"a.b/c": "1"}}, [_PLAIN], []), ({"limits": {"ephemeral-storage": "1Gi"}}, [_PLAIN], []), ({"claims": [{"name": "x"}]}, [_PLAIN], []),
    ({}, [_having({"limits": {"cpu": "1"}})], []), ({"limits": {}}, [_having({"limits": {"cpu": "1"}})], []),
    ({"limits": {"memory": "1Gi"}}, [_having({"requests": {"memory": "100M"}}), _having({"requests": {"memory": "128Mi"}}, name="d")], []),
    ({"limits": {"memory": "1G", "cpu": "1e3"}}, [_having({"requests": {"memory": "1e6", "cpu": "1e0"}}), _having({"requests": {"memory": "1Mi"}}, name="d")], []),
    ({"limits": {"memory": "1Gi"}}, [_having({"requests": {"memory": "512Mi"}}), _having({"requests": {"memory": "512Mi"}}, name="d")], []),
]


_DISK = {"diskName": "d", "diskURI": "https://a.example.com/d.vhd"}
# Sources of PersistentVolumes.
SOURCES = [
    {"iscsi": {"targetPortal": "1.2.3.4:5", "iqn": "iqn.2001-04.com.example:a", "lun": 0}}, {"rbd": {"monitors": ["m"], "image": "i"}},
    {"rbd": {"monitors": ["m"], "image": "i", "pool": "", "user": None, "keyring": "/k"}}, {"azureDisk": _DISK},
    {"azureDisk": _DISK | {"fsType": "", "cachingMode": "None", "readOnly": True}}, {"hostPath": {"path": "/a"}}, {"nfs": {"server": "s", "path": "/"}},
    {"scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": "n", "namespace": "m"}, "volumeName": "v"}},
]
# How pods are replaced, of each type that can, and numbers beside it.
_STRATEGIES = [None, {}] + [{"type": kind} for kind in ("", "RollingUpdate", "OnDelete", "Recreate", "x")] + [
    {"rollingUpdate": rolling} for rolling in (None, {}, {"partition": 3}, {"partition": -3}, {"maxUnavailable": 2}, {"maxUnavailable": 0, "maxSurge": 0},
                                               {"maxUnavailable": "0%", "maxSurge": "0%"}, {"maxUnavailable": "x"}, {"maxUnavailable": "120%"}, {"maxUnavailable": "10"},
                                               {"maxSurge": -1}, {"maxSurge": "120%"}, {"maxUnavailable": 0, "maxSurge": 1}, {"maxUnavailable": 1, "maxSurge": 1})] + [
    {"type": "RollingUpdate", "rollingUpdate": {}}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}, {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}]
_NUMBERS = [{"minReadySeconds": -1}, {"revisionHistoryLimit": -1}, {"progressDeadlineSeconds": -1}, {"minReadySeconds": 5, "progressDeadlineSeconds": 5},
            {"progressDeadlineSeconds": 0}, {"replicas": -1}]
_LABELS = {"a": "b"}
# Labels of pods to come that are none, and selectors.
_TEMPLATES = [({"matchLabels": _LABELS}, {"labels": _LABELS | {"c d": "e f"}, "annotations": {"/": "x"}}, {"a b": "c d"}), ({"matchLabels": {"a b": "c"}}, {"labels": _LABELS}, {}),
              ({"matchExpressions": [{"key": "a", "operator": "In"}]}, {"labels": _LABELS}, {}), ({"matchExpressions": [{"key": "a", "operator": "x"}]}, {"labels": _LABELS}, {}),
              ({"matchLabels": {"a": "c"}}, {"labels": _LABELS}, {}), (None, {"labels": _LABELS}, {})]


_JOB = {"template": {"spec": {"restartPolicy": "Never", "containers": [_PLAIN]}}}
_CRON_JOB = {"schedule": "* * * * *", "jobTemplate": {"spec": _JOB}}
_REFERENCE = {"scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}, "maxReplicas": 5}
_PORT = {"ports": [{"port": 80}]}
_INGRESS_PATH = {"path": "/", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
# Specs with fields that may not be what they are, or may.
SPECS = {
    "v1/pods": [{"automountServiceAccountToken": False, "containers": [_PLAIN]} | members for members in (
        [{"containers": [_PLAIN | container]} for container in (
            {"imagePullPolicy": "x"}, {"terminationMessagePolicy": "x"}, {"ports": [{"containerPort": 70000}]}, {"ports": [{"containerPort": 80, "protocol": "X"}]},
            {"livenessProbe": {"httpGet": {"port": 80}, "periodSeconds": -1}}, {"securityContext": {"runAsUser": -1}})] +
        [{"restartPolicy": "x"}, {"dnsPolicy": "x"}, {"activeDeadlineSeconds": 0}, {"tolerations": [{"key": "a", "effect": "x"}]}, {"terminationGracePeriodSeconds": -1},
         {"securityContext": {"runAsUser": -1}}, {"nodeSelector": {"a b": "c"}}, {"initContainers": [_PLAIN]}])],
    "v1/services": [_PORT | members for members in (
        {"type": "x"}, {"ports": [{"port": 80, "protocol": "x"}]}, {"sessionAffinity": "x"}, {"internalTrafficPolicy": "x"}, {"selector": {"a b": "c d"}},
        {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}})],
    "batch/v1/jobs": [_JOB | members for members in (
        {"parallelism": -1}, {"completions": -1}, {"backoffLimit": -1}, {"activeDeadlineSeconds": -1}, {"activeDeadlineSeconds": 0}, {"ttlSecondsAfterFinished": -1},
        {"completionMode": "x"}, {"podReplacementPolicy": "x"}, {"parallelism": 0, "completions": 0})],
    "batch/v1/cronjobs": [_CRON_JOB | members for members in (
        {"concurrencyPolicy": "x"}, {"startingDeadlineSeconds": -1}, {"successfulJobsHistoryLimit": -1}, {"failedJobsHistoryLimit": -1}, {"successfulJobsHistoryLimit": 0})],
    "autoscaling/v2/horizontalpodautoscalers": [_REFERENCE | members for members in (
        {}, {"minReplicas": 6}, {"scaleTargetRef": {"kind": "", "name": "", "apiVersion": "apps/v1"}})],
    "policy/v1/poddisruptionbudgets": [
        {}, {"minAvailable": 1, "maxUnavailable": 1}, {"minAvailable": -1}, {"minAvailable": "x"}, {"minAvailable": "150%"}, {"maxUnavailable": "-1%"},
        {"maxUnavailable": 0}, {"unhealthyPodEvictionPolicy": "x"}, {"selector": {}}, {"maxUnavailable": "1"}, {"selector": {"matchLabels": {"a b": "c"}}}],
    "networking.k8s.io/v1/networkpolicies": [{"podSelector": {}} | members for members in (
        {}, {"policyTypes": ["x"]}, {"ingress": [{"ports": [{"port": 0}]}]}, {"ingress": [{"ports": [{"protocol": "x", "port": 80}]}]}, {"podSelector": {"matchLabels": {"a b": "c"}}})],
    "networking.k8s.io/v1/ingresses": [{"rules": [{"host": "a.b", "http": {"paths": [_INGRESS_PATH | {"pathType": kind}]}}]} for kind in ("Prefix", "Exact", "x")],
    "v1/persistentvolumeclaims": [{"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}} | members for members in (
        {}, {"accessModes": []}, {"accessModes": ["x"]}, {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}, {"resources": {}}, {"volumeMode": "x"},
        {"resources": {"requests": {"storage": "-1"}}}, {"resources": {"requests": {"storage": "0.5"}}}, {"storageClassName": "A b"}, {"volumeAttributesClassName": "A"},
        {"selector": {"matchLabels": {"a b": "c"}}})],
}


def refused_or(answer, wanted):
    """Which fields are refused and how, or what `wanted` takes of the object."""
    if answer.code >= 400:
        details = answer.body.get("details") or {}
        return {"code": answer.code, "reason": answer.body.get("reason"),
                "causes": sorted({(one.get("reason"), one.get("field")) for one in details.get("causes") or []})}
    return {"code": answer.code, "object": wanted(answer.body)}


def _resources_of(spec):
    containers = spec["containers"] + (spec.get("initContainers") or [])
    return {"pod": spec.get("resources"), "containers": [one.get("resources") for one in containers]}


def _compare_volumes(comparison):
    for source in SOURCES:
        body = {"metadata": {"name": "validation"}, "spec": {"capacity": {"storage": "1.0005"}, "accessModes": ["ReadWriteOnce"]} | source}
        comparison.both(f"a volume with {json.dumps(source)}", lambda side, b=body: refused_or(
            side.ask("POST", "/api/v1/persistentvolumes?dryRun=All", b), lambda made: made["spec"]))


def _compare_workloads(comparison, namespace):
    def compare(plural, spec, member):
        path = f"/apis/apps/v1/namespaces/{namespace}/{plural}?dryRun=All"
        comparison.both(f"{plural} with {json.dumps(spec)}", lambda side: refused_or(
            side.ask("POST", path, {"metadata": {"name": "strategy"}, "spec": spec}), lambda made: made["spec"].get(member)))

    template = {"metadata": {"labels": _LABELS}, "spec": {"containers": [_PLAIN]}}
    for plural, member in (("deployments", "strategy"), ("daemonsets", "updateStrategy"), ("statefulsets", "updateStrategy")):
        base = {"selector": {"matchLabels": _LABELS}, "template": template} | ({"serviceName": "s"} if plural == "statefulsets" else {})
        for strategy in _STRATEGIES:
            compare(plural, base | ({} if strategy is None else {member: strategy}), member)
        for numbers in _NUMBERS:
            compare(plural, base | numbers, member)
        for selector, metadata, nodes in _TEMPLATES:
            compare(plural, base | {"selector": selector, "template": {"metadata": metadata, "spec": {"containers": [_PLAIN], "nodeSelector": nodes}}}, member)


def _compare_specs(comparison, namespace):
    for resource, specs in SPECS.items():
        version, plural = resource.rsplit("/", 1)
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for spec in specs:
            body = {"metadata": {"name": "spec"}, "spec": spec}
            # What a field was that is said, or that was completed; of addresses see services.py.
            comparison.both(f"{plural} with {json.dumps(spec)}", lambda side, p=f"{root}/namespaces/{namespace}/{plural}?dryRun=All", b=body, s=spec: refused_or(
                side.ask("POST", p, b), lambda made: {member: made["spec"].get(member) for member in s.keys() | {"manualSelector"} if member not in ("template", "tolerations")}))


def compare_validation(comparison, namespace):
    _compare_specs(comparison, namespace)
    _compare_volumes(comparison)
    _compare_workloads(comparison, namespace)
    _compare_data(comparison, f"/api/v1/namespaces/{namespace}")
    specs = [{"containers": [_having(resources)]} for resources in RESOURCES]
    specs += [{"containers": [_PLAIN], "initContainers": [_having(RESOURCES[0], name="i")]}]
    specs += [{"resources": of_pod, "containers": containers, "initContainers": before} for of_pod, containers, before in POD_RESOURCES]
    specs += [{"os": {"name": "windows"}, "resources": {"limits": {"cpu": "1"}}, "containers": [_PLAIN]}]
    for spec in specs:
        pod = {"metadata": {"name": "resources"}, "spec": spec | {"automountServiceAccountToken": False}}
        comparison.both(f"a pod with {json.dumps(spec)}", lambda side, b=pod: refused_or(
            side.ask("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", b), lambda made: _resources_of(made["spec"])))
        template = {"metadata": {"name": "resources"}, "template": {"metadata": {}, "spec": spec}}
        comparison.both(f"a template with {json.dumps(spec)}", lambda side, b=template: refused_or(
            side.ask("POST", f"/api/v1/namespaces/{namespace}/podtemplates?dryRun=All", b), lambda made: _resources_of(made["template"]["spec"])))


def _compare_data(comparison, path):
    for plural, bodies in (("configmaps", CONFIG_MAPS), ("secrets", SECRETS)):
        for number, body in enumerate(bodies):
            made = {"metadata": {"name": "data"}} | body
            comparison.both(f"{plural} {number}, {json.dumps(body)[:80]}", lambda side, p=plural, b=made: refused_or(
                side.ask("POST", f"{path}/{p}?dryRun=All", b), lambda got: got.get("type")))
    changed = {"metadata": {"name": "validation"}, "data": {"a": "b"}, "binaryData": {"c": _encoded("d")}}
    for side in comparison.sides:
        side.ask("POST", f"{path}/configmaps", changed)
    for patch in ({"data": {"c": "d"}}, {"data": {"big": "v" * _MIB}}):
        comparison.both(f"a ConfigMap with {json.dumps(patch)[:80]} besides", lambda side, b=patch: refused_or(
            side.ask("PATCH", f"{path}/configmaps/validation", b, content_type="application/merge-patch+json"), lambda got: got.get("data")))
