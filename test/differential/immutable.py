"""Changes what Kubernetes keeps as it was made, and beside it what may change, and compares which fields both servers refuse. forms.py calls it."""

_POD = {"containers": [{"name": "c", "image": "i"}]}


def _template(**spec):
    return {"metadata": {"labels": {"app": "a"}}, "spec": _POD | spec}


_WORKLOAD = {"selector": {"matchLabels": {"app": "a"}}, "template": _template()}
_SELECTOR = {"spec": {"selector": {"matchLabels": {"other": "b"}}, "template": {"metadata": {"labels": {"other": "b"}}}}}
_NEW_IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "j"}]}}}}
_JOB = {"template": _template(restartPolicy="Never")}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_PORTS = [{"name": "http", "port": 80}]
_VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}

# A type's group and version, its plural, whether it is of a namespace, an object of it, and merge patches of that.
_CLASS = "volume.beta.kubernetes.io/storage-class"


def _nodes(*keys):
    """An affinity for nodes with labels, one after the other."""
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": ["v"]} for key in keys]}]}}


CASES = [
    ("apps/v1", "deployments", True, {"spec": _WORKLOAD}, [_SELECTOR, _NEW_IMAGE, {"spec": {"replicas": 3}}]),
    ("apps/v1", "replicasets", True, {"spec": _WORKLOAD}, [_SELECTOR, _NEW_IMAGE, {"spec": {"replicas": 3}}]),
    ("apps/v1", "daemonsets", True, {"spec": _WORKLOAD}, [_SELECTOR, _NEW_IMAGE]),
    ("apps/v1", "statefulsets", True,
     {"spec": _WORKLOAD | {"serviceName": "s", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": _CLAIM}]}},
     [_SELECTOR, _NEW_IMAGE, {"spec": {"serviceName": "t"}}, {"spec": {"podManagementPolicy": "Parallel"}}, {"spec": {"volumeClaimTemplates": []}},
      {"spec": {"replicas": 3, "minReadySeconds": 2, "revisionHistoryLimit": 3, "ordinals": {"start": 1}, "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}},
      {"spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": _CLAIM | {"volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}]}}]),
    ("apps/v1", "controllerrevisions", True, {"revision": 1, "data": {"a": "b"}}, [{"data": {"a": "c"}}, {"data": {"c": "d"}}]),
    ("v1", "replicationcontrollers", True, {"spec": {"selector": {"app": "a"}, "template": _template()}},
     [_NEW_IMAGE, {"spec": {"selector": {"other": "b"}}}, {"spec": {"selector": {"app": None, "b": "c"}, "template": {"metadata": {"labels": {"b": "c"}}}}}]),
    ("batch/v1", "jobs", True, {"spec": _JOB | {"completions": 2}},
     [_NEW_IMAGE, {"spec": {"completions": 3}}, {"spec": {"parallelism": 2, "backoffLimit": 3, "activeDeadlineSeconds": 100, "ttlSecondsAfterFinished": 5}},
      {"spec": {"suspend": True}}, {"spec": {"completionMode": "Indexed"}},
      {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}, {"spec": {"podReplacementPolicy": "Failed"}},
      {"spec": {"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}}}]),
    ("batch/v1", "jobs", True, {"spec": _JOB | {"manualSelector": True, "selector": {"matchLabels": {"app": "a"}}}},
     [{"spec": {"selector": {"matchLabels": {"b": "c"}}}}]),
    ("batch/v1", "jobs", True, {"spec": _JOB | {"suspend": True}},
     [_NEW_IMAGE, {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}, "metadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}}}}},
      {"spec": {"template": {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}}}, {"spec": {"completions": 2}},
      {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}]}}}},
      {"spec": {"template": {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
          "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}}}}},
      {"spec": {"template": {"spec": {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
          {"topologyKey": "a", "labelSelector": {"matchLabels": {"a": "b"}}}]}}}}}}, {"spec": {"suspend": False}}]),
    ("batch/v1", "jobs", True, {"spec": _JOB | {"completionMode": "Indexed", "completions": 2, "parallelism": 2}},
     [{"spec": {"completions": 3}}, {"spec": {"completions": 3, "parallelism": 3}}, {"spec": {"completionMode": "NonIndexed"}}]),
    ("batch/v1", "cronjobs", True, {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": _JOB}}},
     [{"spec": {"schedule": "1 * * * *", "jobTemplate": {"spec": {"completions": 3, "template": {"spec": {"nodeSelector": {"a": "b"}}}}}}}]),
    ("v1", "services", True, {"spec": {"ports": _PORTS}},
     [{"spec": {"clusterIP": "None", "clusterIPs": ["None"]}}, {"spec": {"clusterIP": None, "clusterIPs": None}}, {"spec": {"type": "NodePort"}},
      {"spec": {"type": "ClusterIP"}}, {"spec": {"type": "ExternalName", "externalName": "a.b", "clusterIP": "", "clusterIPs": None}},
      {"spec": {"type": "ClusterIP", "externalName": None}}, {"spec": {"ports": [{"name": "http", "port": 81}]}}, {"spec": {"selector": {"a": "b"}}}]),
    ("v1", "services", True, {"spec": {"ports": _PORTS, "clusterIP": "None"}},
     [{"spec": {"clusterIP": "", "clusterIPs": None}}, {"spec": {"clusterIP": None, "clusterIPs": None, "ports": [{"name": "http", "port": 81}]}}]),
    ("v1", "persistentvolumeclaims", True, {"spec": _CLAIM},
     [{"spec": {"accessModes": ["ReadWriteMany"]}}, {"spec": {"storageClassName": "fast"}}, {"spec": {"volumeName": "v"}}, {"spec": {"volumeMode": "Block"}},
      {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}, {"spec": {"resources": {"requests": {"storage": "1073741824"}}}}]),
    # The same amounts in other forms.
    ("apps/v1", "statefulsets", True, {"spec": _WORKLOAD | {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": _CLAIM}]}},
     [{"spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": _CLAIM | {"resources": {"requests": {"storage": size}}}}]}} for size in ("1073741824", "1073741825")]),
    ("batch/v1", "jobs", True, {"spec": {"template": _template(restartPolicy="Never", containers=[{"name": "c", "image": "i", "resources": {"limits": {"memory": "1Gi"}}}])}},
     [{"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"memory": size}}}]}}}} for size in ("1073741824", "2Gi")]),
    ("v1", "pods", True, {"spec": _POD | {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}}}]}},
     [{"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"memory": size}, "requests": {"memory": size}}}]}} for size in ("1073741824", "2Gi")]),
    ("v1", "persistentvolumes", False, {"spec": _VOLUME},
     [{"spec": {"hostPath": {"path": "/b"}}}, {"spec": {"hostPath": None, "nfs": {"server": "s", "path": "/"}}}, {"spec": {"volumeMode": "Block"}},
      {"spec": {"capacity": {"storage": "2Gi"}}}, {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}, {"spec": {"accessModes": ["ReadWriteMany"]}}]),
    ("v1", "persistentvolumes", False,
     {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "csi": {"driver": "d.example.com", "volumeHandle": "h"}}},
     [{"spec": {"csi": {"controllerExpandSecretRef": {"name": "n", "namespace": "s"}}}},
      {"spec": {"csi": {"controllerExpandSecretRef": {"name": "m", "namespace": "s"}}}},
      {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}},
      {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "b", "operator": "Exists"}]}]}}}}]),
    ("v1", "persistentvolumes", False,
     {"spec": _VOLUME | {"volumeAttributesClassName": "gold", "nodeAffinity": _nodes("failure-domain.beta.kubernetes.io/zone", "beta.kubernetes.io/os"),
                         "hostPath": None, "csi": {"driver": "d.example.com", "volumeHandle": "h"}}},
     [{"spec": {"nodeAffinity": _nodes("beta.kubernetes.io/os", "failure-domain.beta.kubernetes.io/zone")}},
      {"spec": {"nodeAffinity": _nodes("topology.kubernetes.io/region", "beta.kubernetes.io/os")}},
      {"spec": {"nodeAffinity": _nodes("topology.kubernetes.io/zone", "beta.kubernetes.io/os")}},
      {"spec": {"nodeAffinity": _nodes("topology.kubernetes.io/zone", "kubernetes.io/os")}},
      {"spec": {"nodeAffinity": _nodes("failure-domain.beta.kubernetes.io/zone", "kubernetes.io/os")}}, {"spec": {"nodeAffinity": None}},
      {"spec": {"volumeAttributesClassName": "silver"}}, {"spec": {"volumeAttributesClassName": ""}}, {"spec": {"volumeAttributesClassName": None}}]),
    ("v1", "configmaps", True, {"immutable": True, "data": {"a": "b"}},
     [{"data": {"a": "c"}}, {"immutable": False}, {"binaryData": {"x": "eA=="}}, {"metadata": {"labels": {"a": "b"}}}]),
    ("v1", "secrets", True, {"immutable": True, "type": "a/b", "data": {"a": "eA=="}},
     [{"data": {"a": "eQ=="}}, {"stringData": {"a": "c"}}, {"immutable": None}, {"type": "c/d"}, {"metadata": {"labels": {"a": "b"}}}]),
    ("v1", "resourcequotas", True, {"spec": {"hard": {"pods": "1"}, "scopes": ["Terminating"]}},
     [{"spec": {"scopes": ["NotTerminating"]}}, {"spec": {"scopes": None}}, {"spec": {"hard": {"pods": "2"}}}]),
    ("v1", "resourcequotas", True, {"spec": {"hard": {"pods": "1"}, "scopes": ["Terminating", "NotBestEffort"]}},
     [{"spec": {"scopes": ["NotBestEffort", "Terminating"]}}, {"spec": {"scopes": ["NotBestEffort"]}}]),
    ("v1", "serviceaccounts", True, {}, [{"automountServiceAccountToken": False}, {"imagePullSecrets": [{"name": "a"}]}]),
    ("v1", "podtemplates", True, {"template": _template()}, [{"template": {"spec": {"nodeSelector": {"a": "b"}}}}]),
    ("storage.k8s.io/v1", "storageclasses", False, {"provisioner": "a/b", "parameters": {"a": "b"}},
     [{"provisioner": "c/d"}, {"parameters": {"a": "c"}}, {"parameters": None}, {"reclaimPolicy": "Retain"}, {"volumeBindingMode": "WaitForFirstConsumer"},
      {"allowVolumeExpansion": True}, {"mountOptions": ["ro"]}]),
    ("storage.k8s.io/v1", "csidrivers", False, {"spec": {}},
     [{"spec": {"attachRequired": False}}, {"spec": {"podInfoOnMount": True}}, {"spec": {"fsGroupPolicy": "File"}}, {"spec": {"volumeLifecycleModes": ["Ephemeral"]}},
      {"spec": {"storageCapacity": True}}]),
    ("storage.k8s.io/v1", "volumeattachments", False, {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
     [{"spec": {"nodeName": "m"}}, {"spec": {"source": {"persistentVolumeName": "w"}}}, {"metadata": {"labels": {"a": "b"}}}]),
    ("storage.k8s.io/v1", "csistoragecapacities", True, {"storageClassName": "a", "nodeTopology": {"matchLabels": {"a": "b"}}, "capacity": "1Gi"},
     [{"storageClassName": "b"}, {"nodeTopology": {"matchLabels": {"a": "c"}}}, {"capacity": "2Gi"}]),
    ("scheduling.k8s.io/v1", "priorityclasses", False, {"value": 5}, [{"value": 6}, {"preemptionPolicy": "Never"}, {"description": "d"}, {"globalDefault": False}]),
    ("node.k8s.io/v1", "runtimeclasses", False, {"handler": "a"}, [{"handler": "b"}, {"scheduling": {"nodeSelector": {"a": "b"}}}]),
    ("networking.k8s.io/v1", "ingressclasses", False, {"spec": {"controller": "a.b/c"}},
     [{"spec": {"controller": "a.b/d"}}, {"spec": {"parameters": {"kind": "K", "name": "n", "scope": "Cluster"}}}]),
    ("networking.k8s.io/v1", "ipaddresses", False, {"spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "a"}}},
     [{"spec": {"parentRef": {"name": "b"}}}, {"metadata": {"labels": {"a": "b"}}}]),
    ("networking.k8s.io/v1", "servicecidrs", False, {"spec": {"cidrs": ["10.99.0.0/24"]}}, [{"spec": {"cidrs": ["10.98.0.0/24"]}}, {"metadata": {"labels": {"a": "b"}}}]),
    ("discovery.k8s.io/v1", "endpointslices", True, {"addressType": "IPv4", "endpoints": []},
     [{"addressType": "IPv6"}, {"endpoints": [{"addresses": ["10.1.2.3"]}]}]),
    ("rbac.authorization.k8s.io/v1", "rolebindings", True, {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": []},
     [{"roleRef": {"name": "s"}}, {"subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "u"}]}]),
    ("policy/v1", "poddisruptionbudgets", True, {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}},
     [{"spec": {"minAvailable": 2}}, {"spec": {"selector": {"matchLabels": {"a": "c"}}}}]),
    ("coordination.k8s.io/v1", "leases", True, {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 5}}, [{"spec": {"holderIdentity": "b"}}]),
]
# Classes of claims, in the annotation of before and in the field, and what they become.
_CLASSES = [{}, {"spec": {"storageClassName": ""}}, {"spec": {"storageClassName": "slow"}}, {"metadata": {"annotations": {_CLASS: "slow"}}},
            {"metadata": {"annotations": {_CLASS: "slow"}}, "spec": {"storageClassName": "slow"}}]
_NEW_CLASSES = [{"metadata": {"annotations": {_CLASS: annotation}}, "spec": {"storageClassName": name}}
                for annotation, name in ((None, None), (None, ""), (None, "fast"), (None, "slow"), ("slow", "slow"), ("slow", None), ("fast", None), ("fast", "fast"))]
# Names that are no more than labels.
_NAMES = {"ipaddresses": "10.0.0.211"}


def _refusal(answer):
    """The code, and which fields are refused and how."""
    details = answer.body.get("details") or {} if answer.code >= 400 and isinstance(answer.body, dict) else {}
    return {"code": answer.code, "causes": sorted({(one.get("reason"), one.get("field")) for one in details.get("causes") or []})}


def _compare_classes(comparison, path):
    number = 0
    for before in _CLASSES:
        for after in _NEW_CLASSES:
            number += 1
            name = f"class-{number}"
            body = {"metadata": {"name": name} | before.get("metadata", {}), "spec": _CLAIM | before.get("spec", {})}
            comparison.both(f"a claim of {before}", lambda side, b=body: _refusal(side.ask("POST", path, b)))
            comparison.both(f"a claim of {before} with {after}", lambda side, p=f"{path}/{name}", b=after: _refusal(
                side.ask("PATCH", p, b, content_type="application/merge-patch+json")))


def _compare_shrinking(comparison, path):
    """Claims that become smaller while they grow."""
    for number, capacity in enumerate(("2Gi", None)):
        name = f"shrinking-{number}"
        spec = _CLAIM | {"resources": {"requests": {"storage": "4Gi"}}, "volumeAttributesClassName": "gold"}
        status = {"phase": "Bound", "capacity": {"storage": capacity} if capacity else None, "currentVolumeAttributesClassName": "gold"}
        for side in comparison.sides:
            side.ask("POST", path, {"metadata": {"name": name}, "spec": spec})
            side.ask("PATCH", f"{path}/{name}/status", {"status": status}, content_type="application/merge-patch+json")
        for patch in [{"resources": {"requests": {"storage": size}}} for size in ("3Gi", "2Gi", "1Gi", "0", None)] + [
                {"volumeAttributesClassName": attributes} for attributes in ("silver", "", None)]:
            comparison.both(f"a claim with {capacity} and {patch}", lambda side, p=f"{path}/{name}", b=patch: _refusal(
                side.ask("PATCH", p, {"spec": b}, content_type="application/merge-patch+json")))


def compare_immutable(comparison, namespace, tag):
    _compare_classes(comparison, f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")
    _compare_shrinking(comparison, f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")
    for number, (version, plural, namespaced, body, patches) in enumerate(CASES):
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        path = f"{root}/namespaces/{namespace}/{plural}" if namespaced else f"{root}/{plural}"
        name = _NAMES.get(plural, f"immutable-{tag}-{number}")
        comparison.both(f"a new one of {plural}", lambda side, p=path, n=name, b=body: _refusal(side.ask("POST", p, {"metadata": {"name": n}} | b)))
        for patch in patches:
            comparison.both(f"{plural} changed by {patch}", lambda side, p=f"{path}/{name}", b=patch: _refusal(
                side.ask("PATCH", p, b, content_type="application/merge-patch+json")))
        for side in comparison.sides:
            side.ask("DELETE", f"{path}/{name}?propagationPolicy=Background", {"gracePeriodSeconds": 0})
