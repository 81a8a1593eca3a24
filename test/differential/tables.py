"""Asks both servers for tables of all types: their columns, and the cells of objects of those that people look at most. forms.py calls it."""

import json
import re

from published import listable

_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
# What depends on when it is asked.
_AGES = {"Age", "Last Seen", "First Seen", "Last Schedule", "Duration", "Created At"}
_AGO = re.compile(r"\([0-9smhdy]+ ago\)")

_POD = {"containers": [{"name": "a", "image": "i:1"}, {"name": "b", "image": "j"}]}
_TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": _POD}
# A Job's selector names its uid otherwise.
_OWN_PODS = {"manualSelector": True, "selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}, "spec": _POD | {"restartPolicy": "Never"}}}
_SELECTOR = {"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}
_RUNNING = {"startedAt": "2026-01-01T00:00:00Z"}


def _status(name, image="i", **more):
    return {"name": name, "image": image, "imageID": "x", "ready": False, "restartCount": 0} | more


# Path below a namespace, or without one; the object; what its status is set to.
NAMESPACED = [
    ("api/v1", "pods", {"spec": _POD}, None),
    ("api/v1", "pods", {"spec": _POD}, {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}], "containerStatuses": [
        _status("a", ready=True, started=True, state={"running": _RUNNING}), _status("b", restartCount=2, state={"waiting": {"reason": "CrashLoopBackOff"}},
                lastState={"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:00:00Z"}})]}),
    ("api/v1", "pods", {"spec": _POD | {"initContainers": [{"name": "s", "image": "i", "restartPolicy": "Always"}, {"name": "i", "image": "i"}]}},
     {"phase": "Pending", "initContainerStatuses": [_status("s", ready=True, started=True, state={"running": _RUNNING}),
                                                    _status("i", state={"running": _RUNNING})]}),
    ("api/v1", "pods", {"spec": _POD}, {"phase": "Failed", "containerStatuses": [_status("a", state={"terminated": {"exitCode": 137, "signal": 9}}),
                                                                                 _status("b", state={"terminated": {"exitCode": 0, "reason": "Completed"}})]}),
    ("api/v1", "pods", {"spec": _POD | {"readinessGates": [{"conditionType": "example.com/up"}]}}, {"phase": "Running", "nominatedNodeName": "n", "conditions": [
        {"type": "example.com/up", "status": "True"}]}),
    ("api/v1", "podtemplates", {"template": _TEMPLATE}, None),
    ("api/v1", "replicationcontrollers", {"spec": {"replicas": 0, "selector": {"app": "x"}, "template": _TEMPLATE}}, {"replicas": 1}),
    ("api/v1", "services", {"spec": {"type": "ExternalName", "externalName": "example.com"}}, None),
    ("api/v1", "services", {"spec": {"clusterIP": "None", "externalIPs": ["1.2.3.4"], "selector": {"app": "x", "a": "b"}, "ports": [
        {"name": "a", "port": 80}, {"name": "b", "port": 53, "protocol": "UDP"}]}}, None),
    ("api/v1", "endpoints", {"subsets": [{"addresses": [{"ip": "10.1.0.1"}, {"ip": "10.1.0.2"}], "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}]}, None),
    ("api/v1", "secrets", {"stringData": {"a": "b"}}, None),
    ("api/v1", "serviceaccounts", {}, None),
    ("api/v1", "persistentvolumeclaims", {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeMode": "Block", "resources": {"requests": {"storage": "1Gi"}}}},
     {"phase": "Pending"}),
    ("api/v1", "resourcequotas", {"spec": {"hard": {"limits.cpu": "5", "configmaps": "70", "secrets": "50"}}},
     {"hard": {"limits.cpu": "5", "configmaps": "70", "secrets": "50"}, "used": {"configmaps": "3"}}),
    ("api/v1", "limitranges", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}, None),
    ("api/v1", "events", {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "{namespace}"}, "type": "Normal", "reason": "R", "message": " m\n",
                          "source": {"component": "c", "host": "h"}, "count": 3, "lastTimestamp": "2026-01-01T00:00:00Z"}, None),
    ("apis/apps/v1", "deployments", {"spec": {"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "template": _TEMPLATE}},
     {"replicas": 2, "readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1}),
    ("apis/apps/v1", "replicasets", {"spec": {"replicas": 2, "selector": _SELECTOR, "template": _TEMPLATE}}, {"replicas": 2}),
    ("apis/apps/v1", "statefulsets", {"spec": {"serviceName": "s", "selector": {"matchLabels": {"app": "x"}}, "template": _TEMPLATE}}, {"replicas": 1, "readyReplicas": 1}),
    ("apis/apps/v1", "daemonsets", {"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}, "spec": _POD | {
        "nodeSelector": {"disk": "ssd", "a": "b"}}}}}, {"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberReady": 1, "numberMisscheduled": 0}),
    ("apis/apps/v1", "controllerrevisions", {"revision": 3, "data": {}, "metadata": {"ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}]}}, None),
    ("apis/batch/v1", "cronjobs", {"spec": {"schedule": "@daily", "suspend": True, "jobTemplate": {"spec": {"template": {"spec": _POD | {"restartPolicy": "Never"}}}}}}, None),
    ("apis/batch/v1", "jobs", {"spec": _OWN_PODS}, None),
    ("apis/batch/v1", "jobs", {"spec": _OWN_PODS | {"parallelism": 4}}, {"conditions": [{"type": "Suspended", "status": "True"}]}),
    ("apis/policy/v1", "poddisruptionbudgets", {"spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "x"}}}}, None),
    ("apis/autoscaling/v2", "horizontalpodautoscalers", {"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                                                                  "maxReplicas": 5, "metrics": [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
        {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
        {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "7"}}}]}}, None),
    ("apis/discovery.k8s.io/v1", "endpointslices", {"addressType": "IPv4", "endpoints": [{"addresses": [f"10.1.2.{i}"]} for i in range(1, 6)],
                                                    "ports": [{"name": "x", "port": 80}]}, None),
    ("apis/networking.k8s.io/v1", "ingresses", {"spec": {"ingressClassName": "c", "tls": [{"hosts": ["a.io"]}], "rules": [{"host": f"{name}.io"} for name in "abcd"]}}, None),
    ("apis/networking.k8s.io/v1", "networkpolicies", {"spec": {"podSelector": _SELECTOR}}, None),
    ("apis/rbac.authorization.k8s.io/v1", "roles", {"rules": []}, None),
    ("apis/rbac.authorization.k8s.io/v1", "rolebindings", {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [
        {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "User", "name": "v", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]}, None),
    ("apis/resource.k8s.io/v1", "resourceclaims", {"spec": {}}, None),
    ("apis/coordination.k8s.io/v1", "leases", {"spec": {"holderIdentity": "h", "leaseDurationSeconds": 5}}, None),
]
CLUSTER = [
    ("api/v1", "nodes", {"metadata": {"labels": {"node-role.kubernetes.io/worker": ""}}, "spec": {"unschedulable": True}},
     {"conditions": [{"type": "Ready", "status": "True"}], "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}),
    ("api/v1", "persistentvolumes", {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"], "hostPath": {"path": "/x"},
                                              "storageClassName": "fast", "persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Block"}},
     {"phase": "Available"}),
    ("apis/storage.k8s.io/v1", "storageclasses", {"provisioner": "example.com/p"}, None),
    ("apis/storage.k8s.io/v1", "csidrivers", {"spec": {"tokenRequests": [{"audience": "a"}], "volumeLifecycleModes": ["Ephemeral", "Persistent"]}}, None),
    ("apis/storage.k8s.io/v1", "csinodes", {"spec": {"drivers": []}}, None),
    ("apis/networking.k8s.io/v1", "ingressclasses", {"spec": {"controller": "example.com/c", "parameters": {"apiGroup": "example.com", "kind": "K", "name": "n"}}}, None),
    ("apis/scheduling.k8s.io/v1", "priorityclasses", {"value": 7, "preemptionPolicy": "Never"}, None),
    ("apis/node.k8s.io/v1", "runtimeclasses", {"handler": "h"}, None),
    ("apis/admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", {"webhooks": []}, None),
    ("apis/networking.k8s.io/v1", "servicecidrs", {"spec": {"cidrs": ["10.250.0.0/24", "fd99::/112"]}}, None),
    ("apis/storage.k8s.io/v1", "volumeattributesclasses", {"driverName": "example.com", "parameters": {"a": "b"}}, None),
    ("apis/storage.k8s.io/v1", "volumeattachments", {"spec": {"attacher": "a.example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"}}}, None),
    ("apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies", {"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "validations": [
        {"expression": "true"}, {"expression": "1 == 1"}], "matchConstraints": {"resourceRules": [
            {"operations": ["CREATE"], "apiGroups": ["none.example.com"], "apiVersions": ["v1"], "resources": ["nones"]}]}}}, None),
    ("apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings", {"spec": {"policyName": "none.example.com", "validationActions": ["Warn"], "paramRef": {
        "name": "m", "namespace": "n", "parameterNotFoundAction": "Allow"}}}, None),
    ("apis/flowcontrol.apiserver.k8s.io/v1", "flowschemas", {"spec": {"priorityLevelConfiguration": {"name": "none"}, "matchingPrecedence": 9000,
                                                                     "distinguisherMethod": {"type": "ByUser"}}}, None),
    ("apis/flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations", {"spec": {"type": "Limited", "limited": {
        "nominalConcurrencyShares": 1, "limitResponse": {"type": "Queue", "queuing": {"queues": 4, "handSize": 2, "queueLengthLimit": 5}}}}}, None),
    ("apis/resource.k8s.io/v1", "resourceslices", {"spec": {"nodeName": "n", "driver": "example.com", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}, None),
    ("apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}, "subjects": []}, None),
]


def _columns(answer):
    if answer.code != 200:
        return answer.code
    return [{key: column[key] for key in ("name", "type", "format", "priority")} for column in answer.body["columnDefinitions"]]


def _row(answer):
    """The cells by their columns, without what depends on when."""
    if answer.code != 200:
        return answer.code, answer.body.get("message")
    names = [column["name"] for column in answer.body["columnDefinitions"]]
    row = answer.body["rows"][0]
    cells = {name: "<age>" if name in _AGES and cell not in ("", "<none>", "<unknown>") else _AGO.sub("(ago)", cell) if isinstance(cell, str) else cell
             for name, cell in zip(names, row["cells"])}
    return cells, row.get("conditions")


def _compare_one(comparison, place, name, body, status):
    """Makes the object on both sides and compares it and its row."""
    body = json.loads(json.dumps(body).replace("{namespace}", place.split("/namespaces/")[-1].split("/")[0]))
    body["metadata"] = body.get("metadata", {}) | {"name": name}
    comparison.both(f"make {place}/{name}", lambda side: side.object("POST", place, body))
    for side in comparison.sides:
        if status:
            side.ask("PATCH", f"{place}/{name}/status", {"status": status}, content_type="application/merge-patch+json")
    comparison.both(f"the table of {place}/{name}", lambda side: _row(side.ask("GET", f"{place}/{name}", accept=_TABLE)))
    for side in comparison.sides:
        side.ask("DELETE", f"{place}/{name}?gracePeriodSeconds=0")


def compare_tables(comparison, namespace, tag):
    """The columns of all types that both have, then rows."""
    for path in listable(comparison.sides):
        comparison.both(f"the columns of {path}", lambda side, p=path: _columns(side.ask("GET", f"{p}?limit=1&labelSelector=none%3Dx", accept=_TABLE)))
    for number, (group, resource, body, status) in enumerate(NAMESPACED):
        _compare_one(comparison, f"/{group}/namespaces/{namespace}/{resource}", f"t{number}", body, status)
    for number, (group, resource, body, status) in enumerate(CLUSTER):
        _compare_one(comparison, f"/{group}/{resource}", f"tables-{tag}-{number}", body, status)
