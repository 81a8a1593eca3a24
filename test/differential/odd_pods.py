"""Odd pods: what odd_inputs.py changes in a plain one, with where it stands below the pod's spec. Some of it is good."""

_LONG = "a" * 64
_TCP = {"tcpSocket": {"port": 80}}
_NODE_TERM = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_NODE_WISH = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
_POD_TERM = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_POD_WISH = "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"
_SELECTOR = {"matchLabels": {"a": "b"}}
_SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _SELECTOR}
_TERM = {"topologyKey": "zone", "labelSelector": _SELECTOR}


def _wrong(key, operator, *values):
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": operator} | ({"values": list(values)} if values else {})]}]}


# Of a probe; each stands in a container as a readiness probe.
PROBES = [
    {}, {"exec": {}}, {"exec": {"command": []}}, {"exec": {"command": ["x"]}}, {"httpGet": {}}, {"httpGet": {"port": 80}}, {"httpGet": {"port": 0}},
    {"httpGet": {"port": 65536}}, {"httpGet": {"port": "http"}}, {"httpGet": {"port": "HTTP"}}, {"httpGet": {"port": ""}}, {"httpGet": {"port": "a" * 16}},
    {"httpGet": {"port": "80"}}, {"httpGet": {"port": "a--b"}}, {"httpGet": {"port": 80, "scheme": "FTP"}}, {"httpGet": {"port": 80, "scheme": "HTTPS"}},
    {"httpGet": {"port": 80, "httpHeaders": [{"name": "", "value": ""}]}}, {"httpGet": {"port": 80, "httpHeaders": [{"name": "a b", "value": ""}]}},
    {"httpGet": {"port": 80, "httpHeaders": [{"name": "X-A", "value": "b"}]}}, {"httpGet": {"port": 80, "path": "x"}}, {"httpGet": {"port": 80, "host": "a b"}},
    {"tcpSocket": {}}, {"tcpSocket": {"port": -1}}, {"tcpSocket": {"port": "x-y"}}, {"tcpSocket": {"port": 80, "host": "%"}}, {"grpc": {"port": 0}}, {"grpc": {"port": 70000}},
    {"grpc": {"port": 80}}, {"grpc": {"port": 80, "service": "a b"}}, _TCP | {"exec": {"command": ["x"]}}, _TCP | {"grpc": {"port": 1}}, {"httpGet": {"port": 1}} | _TCP,
    _TCP | {"successThreshold": 3}, _TCP | {"initialDelaySeconds": -1}, _TCP | {"timeoutSeconds": -1}, _TCP | {"failureThreshold": -2}, _TCP | {"successThreshold": -1},
    _TCP | {"terminationGracePeriodSeconds": 5}, _TCP | {"timeoutSeconds": 0}, {"periodSeconds": 5},
]
LIVENESS = [_TCP | {"successThreshold": 2}, _TCP | {"successThreshold": 1}, _TCP | {"terminationGracePeriodSeconds": 0}, _TCP | {"terminationGracePeriodSeconds": 5},
            _TCP | {"terminationGracePeriodSeconds": -1}, _TCP | {"successThreshold": 0}]
HOOKS = [{}, {"exec": {"command": []}}, {"sleep": {"seconds": 0}}, {"sleep": {"seconds": 31}}, {"sleep": {"seconds": -1}}, {"sleep": {"seconds": 5}}, {"httpGet": {"port": 0}},
         {"exec": {"command": ["x"]}, "sleep": {"seconds": 1}}, _TCP, {"tcpSocket": {"port": "A"}}, {"httpGet": {"port": 80, "scheme": "x"}}]
ENV = [
    {"name": "A", "value": "b"}, {"name": ""}, {"name": "a b"}, {"name": "1a"}, {"name": "a=b"}, {"name": "."}, {"name": "..a"}, {"name": "a.b-c_D"}, {"name": "\u00e4"}, {"name": "a\nb"},
    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": ""}}}, {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.nam"}}},
    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}, {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.restartPolicy"}}}, {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}},
    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}}, {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['']"}}},
    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['a/b']"}}}, {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['A b']"}}},
    {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name['x']"}}}, {"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}},
    {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}, {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.foo"}}},
    {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": ""}}}, {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}}},
    {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}, {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
    {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "requests.memory", "divisor": "3Mi"}}}, {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "requests.hugepages-2Mi"}}},
    {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "n", "key": ""}}}, {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "n", "key": "a b"}}},
    {"name": "A", "valueFrom": {"configMapKeyRef": {"key": "k"}}}, {"name": "A", "valueFrom": {"secretKeyRef": {"name": "n", "key": ".."}}}, {"name": "A", "valueFrom": {"secretKeyRef": {"name": "", "key": "k"}}},
]
MOUNTS = [
    {"name": "v", "mountPath": "/a"}, {"name": "", "mountPath": "/a"}, {"name": "w", "mountPath": "/a"}, {"name": "v"}, {"name": "v", "mountPath": "a"}, {"name": "v", "mountPath": "/a:b"},
    {"name": "v", "mountPath": "/a", "subPath": "/x"}, {"name": "v", "mountPath": "/a", "subPath": "a/../b"}, {"name": "v", "mountPath": "/a", "subPath": "..a"},
    {"name": "v", "mountPath": "/a", "subPath": "a", "subPathExpr": "b"}, {"name": "v", "mountPath": "/a", "subPathExpr": "../b"}, {"name": "v", "mountPath": "/a", "mountPropagation": "x"},
    {"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}, {"name": "v", "mountPath": "/a", "mountPropagation": "HostToContainer"},
    {"name": "v", "mountPath": "/a", "recursiveReadOnly": "Enabled"}, {"name": "v", "mountPath": "/a", "recursiveReadOnly": "x"}, {"name": "v", "mountPath": "/a", "recursiveReadOnly": "IfPossible", "readOnly": True},
    {"name": "v", "mountPath": "/a", "recursiveReadOnly": "Enabled", "readOnly": True, "mountPropagation": "HostToContainer"},
]
# Without the name.
VOLUMES = [
    {}, {"emptyDir": {}}, {"emptyDir": {}, "hostPath": {"path": "/a"}}, {"emptyDir": {"sizeLimit": "-1"}}, {"emptyDir": {"medium": "x"}}, {"emptyDir": {"medium": "Memory"}}, {"hostPath": {"path": ""}},
    {"hostPath": {"path": "/a/../b"}}, {"hostPath": {"path": "a"}}, {"hostPath": {"path": "/a", "type": "x"}}, {"hostPath": {"path": "/a", "type": "Directory"}}, {"secret": {}}, {"secret": {"secretName": ""}},
    {"secret": {"secretName": "s", "defaultMode": 512}}, {"secret": {"secretName": "s", "defaultMode": -1}}, {"secret": {"secretName": "s", "items": [{"key": "", "path": "a"}]}},
    {"secret": {"secretName": "s", "items": [{"key": "a", "path": ""}]}}, {"secret": {"secretName": "s", "items": [{"key": "a", "path": "/x"}]}}, {"secret": {"secretName": "s", "items": [{"key": "a", "path": "../x"}]}},
    {"secret": {"secretName": "s", "items": [{"key": "a", "path": "..x"}]}}, {"secret": {"secretName": "s", "items": [{"key": "a", "path": "x", "mode": 1000}]}}, {"secret": {"secretName": "s", "items": [{"key": "a", "path": "x", "mode": 256}]}},
    {"configMap": {}}, {"configMap": {"name": "c", "defaultMode": 1000}}, {"configMap": {"name": "c", "items": [{"key": "a", "path": "b/../c"}]}}, {"persistentVolumeClaim": {}}, {"persistentVolumeClaim": {"claimName": "c"}},
    {"nfs": {}}, {"nfs": {"server": "s", "path": "p"}}, {"nfs": {"server": "s", "path": "/p"}}, {"downwardAPI": {"items": [{"path": "x"}]}}, {"downwardAPI": {"items": [{"path": "", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels"}}]}}, {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}}]}},
    {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}, "resourceFieldRef": {"resource": "limits.cpu", "containerName": "c"}}]}},
    {"downwardAPI": {"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]}}, {"downwardAPI": {"items": [{"path": "a", "mode": 1000, "fieldRef": {"fieldPath": "metadata.uid"}}], "defaultMode": 1000}},
    {"downwardAPI": {"items": [{"path": "../a", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    {"projected": {"sources": []}}, {"projected": {"sources": [{}]}}, {"projected": {"defaultMode": 1000, "sources": [{"secret": {"name": "s"}}]}}, {"projected": {"sources": [{"secret": {"name": ""}}]}},
    {"projected": {"sources": [{"secret": {"name": "s"}, "configMap": {"name": "c"}}]}}, {"projected": {"sources": [{"serviceAccountToken": {"path": ""}}]}},
    {"projected": {"sources": [{"serviceAccountToken": {"path": "a", "expirationSeconds": 5}}]}}, {"projected": {"sources": [{"serviceAccountToken": {"path": "a", "expirationSeconds": 4294967297}}]}},
    {"projected": {"sources": [{"serviceAccountToken": {"path": "a", "expirationSeconds": 600}}]}}, {"projected": {"sources": [{"secret": {"name": "s", "items": [{"key": "a", "path": "p"}]}}, {"configMap": {"name": "c", "items": [{"key": "a", "path": "p"}]}}]}},
    {"projected": {"sources": [{"downwardAPI": {"items": [{"path": "a"}]}}]}}, {"projected": {"sources": [{"configMap": {"name": ""}}]}},
    {"csi": {}}, {"csi": {"driver": "d.e"}}, {"csi": {"driver": "A_b"}}, {"csi": {"driver": "d", "nodePublishSecretRef": {"name": ""}}}, {"ephemeral": {}},
    {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}, {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
    {"ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "x"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
    {"image": {}}, {"image": {"reference": "i"}}, {"image": {"reference": "i", "pullPolicy": "x"}}, {"iscsi": {}}, {"iscsi": {"targetPortal": "p", "iqn": "x", "lun": 300}}, {"iscsi": {"targetPortal": "p", "iqn": "iqn.2001-04.com.example:a", "lun": 0}},
    {"fc": {}}, {"fc": {"targetWWNs": ["a"], "lun": 256}}, {"fc": {"wwids": ["a"], "lun": 1, "targetWWNs": ["b"]}}, {"gitRepo": {"repository": ""}}, {"gitRepo": {"repository": "r", "directory": "../x"}}, {"glusterfs": {}}, {"glusterfs": {"endpoints": "e"}},
    {"rbd": {}}, {"rbd": {"monitors": ["m"]}}, {"cephfs": {}}, {"flexVolume": {}}, {"flexVolume": {"driver": "a/b", "options": {"kubernetes.io/x": "y"}}}, {"cinder": {}}, {"azureFile": {}}, {"azureFile": {"secretName": "s"}},
    {"azureDisk": {}}, {"azureDisk": {"diskName": "d", "diskURI": "x"}}, {"azureDisk": {"diskName": "d", "diskURI": "https://x", "cachingMode": "y"}}, {"vsphereVolume": {}}, {"portworxVolume": {}}, {"quobyte": {}}, {"quobyte": {"registry": "a", "volume": "v"}},
    {"scaleIO": {}}, {"storageos": {}}, {"photonPersistentDisk": {}}, {"gcePersistentDisk": {}}, {"gcePersistentDisk": {"pdName": "p", "partition": 256}}, {"awsElasticBlockStore": {}}, {"awsElasticBlockStore": {"volumeID": "v", "partition": -1}}, {"flocker": {}},
]
PORTS = [
    [{"containerPort": 80}], [{"containerPort": 0}], [{}], [{"containerPort": 80, "name": "A"}], [{"containerPort": 80, "name": "a" * 16}], [{"containerPort": 80, "name": "http"}, {"containerPort": 81, "name": "http"}],
    [{"containerPort": 80, "hostPort": 65536}], [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}], [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80, "protocol": "UDP"}],
    [{"containerPort": 80, "hostPort": 80, "hostIP": "1.2.3.4"}, {"containerPort": 81, "hostPort": 80, "hostIP": "1.2.3.5"}], [{"containerPort": 80, "hostIP": "x"}], [{"containerPort": 80}, {"containerPort": 80}], [{"containerPort": 80, "name": "a--b"}],
    [{"containerPort": 80, "name": "80"}],
]
# Of a container.
CONTAINERS = {
    "readinessProbe": PROBES, "livenessProbe": LIVENESS, "startupProbe": LIVENESS[:1] + PROBES[:1], "lifecycle.preStop": HOOKS, "lifecycle.postStart": HOOKS[:2], "lifecycle.stopSignal": ["SIGTERM", "SIGX"],
    "env": [[one] for one in ENV] + [[ENV[0], ENV[0]]], "ports": PORTS, "volumeMounts": [[one] for one in MOUNTS] + [[MOUNTS[0], MOUNTS[0]]],
    "envFrom": [[one] for one in ({}, {"configMapRef": {}}, {"configMapRef": {"name": ""}}, {"configMapRef": {"name": "c"}, "secretRef": {"name": "s"}}, {"prefix": "1", "configMapRef": {"name": "c"}}, {"prefix": "a=", "secretRef": {"name": "c"}}, {"secretRef": {"name": "A"}})],
    "volumeDevices": [[one] for one in ({"name": "v", "devicePath": "/a"}, {"name": "", "devicePath": ""}, {"name": "w", "devicePath": "/a"}, {"name": "v", "devicePath": "/a/../b"})],
    "name": ["", "A", "a.b", _LONG, "a_b"], "image": ["", " i", "i ", "I"], "imagePullPolicy": ["", "x"], "terminationMessagePath": ["x"], "terminationMessagePolicy": ["x", ""], "workingDir": ["x"], "restartPolicy": ["Always", "OnFailure", "x", "Never"],
    "resizePolicy": [[one] for one in ({"resourceName": "cpu", "restartPolicy": "NotRequired"}, {"resourceName": "x", "restartPolicy": "NotRequired"}, {"resourceName": "cpu", "restartPolicy": "x"}, {"resourceName": "", "restartPolicy": ""})],
    "securityContext": [{"privileged": True, "allowPrivilegeEscalation": False}, {"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}, {"allowPrivilegeEscalation": False, "capabilities": {"add": ["SYS_ADMIN"]}},
                        {"procMount": "x"}, {"procMount": "Unmasked"}, {"procMount": "Default"}, {"runAsUser": -1}, {"runAsGroup": 4294967296}, {"seccompProfile": {"type": "x"}}, {"seccompProfile": {"type": "Localhost"}}, {"seccompProfile": {}},
                        {"seccompProfile": {"type": "Localhost", "localhostProfile": "/x"}}, {"seccompProfile": {"type": "Localhost", "localhostProfile": "x"}}, {"seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "x"}},
                        {"appArmorProfile": {"type": "x"}}, {"appArmorProfile": {"type": "Localhost"}}, {"appArmorProfile": {"type": "Localhost", "localhostProfile": " x"}}, {"appArmorProfile": {"type": "Unconfined"}}, {"appArmorProfile": {}},
                        {"windowsOptions": {"runAsUserName": ""}}, {"windowsOptions": {"gmsaCredentialSpecName": "A b"}}, {"privileged": True}],
    "restartPolicyRules": [[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}], [{"action": "x"}]],
}
# Of a pod's spec.
SPECS = {
    "tolerations": [[one] for one in (
        {}, {"operator": "Exists"}, {"operator": "Equal"}, {"key": "a"}, {"key": "a b", "operator": "Exists"}, {"key": "a", "operator": "x"}, {"key": "a", "operator": "Exists", "value": "x"}, {"key": "a", "value": "x y"}, {"key": "a", "value": "b", "effect": "x"},
        {"key": "a", "tolerationSeconds": 5}, {"key": "a", "tolerationSeconds": 5, "effect": "NoExecute"}, {"key": "a", "tolerationSeconds": 5, "effect": "NoSchedule"}, {"key": "a", "operator": "Gt", "value": "5"}, {"key": "a", "operator": "Lt", "value": "x"})],
    _NODE_TERM: [{}, {"nodeSelectorTerms": []}, {"nodeSelectorTerms": [{}]}, _wrong("a", "In"), _wrong("a", "In", "b"), _wrong("a", "Exists", "b"), _wrong("a", "Gt", "1", "2"), _wrong("a", "Gt", "x"), _wrong("a", "Lt", "5"), _wrong("a", "x"), _wrong("a b", "Exists"), _wrong("", "Exists"),
                 _wrong("a", "In", "x y"), _wrong("a", ""), {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}, {"nodeSelectorTerms": [{"matchFields": [{"key": "x", "operator": "In", "values": ["a"]}]}]},
                 {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}]}, {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "Exists"}]}]}],
    _NODE_WISH: [[one] for one in ({}, {"weight": 0, "preference": {}}, {"weight": 101, "preference": {}}, {"weight": 5, "preference": {}}, {"weight": 5, "preference": _wrong("a", "In")["nodeSelectorTerms"][0]})],
    _POD_TERM: [[one] for one in ({}, _TERM, {"topologyKey": ""}, {"topologyKey": "a b"}, _TERM | {"namespaces": ["A"]}, _TERM | {"namespaces": ["a"]}, _TERM | {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "x"}]}}, _TERM | {"matchLabelKeys": ["c"]},
                                  _TERM | {"matchLabelKeys": ["c"], "mismatchLabelKeys": ["c"]}, _TERM | {"matchLabelKeys": ["a b"]}, {"topologyKey": "a", "matchLabelKeys": ["c"]}, _TERM | {"namespaceSelector": {"matchLabels": {"a b": "c"}}})],
    _POD_WISH: [[one] for one in ({}, {"weight": 0, "podAffinityTerm": _TERM}, {"weight": 101, "podAffinityTerm": _TERM}, {"weight": 1, "podAffinityTerm": _TERM}, {"weight": 1, "podAffinityTerm": {"topologyKey": ""}}, {"weight": 1})],
    "topologySpreadConstraints": [[_SPREAD | one] for one in (
        {}, {"maxSkew": 0}, {"maxSkew": -1}, {"topologyKey": ""}, {"whenUnsatisfiable": "x"}, {"whenUnsatisfiable": ""}, {"minDomains": 0}, {"minDomains": 1}, {"minDomains": 1, "whenUnsatisfiable": "ScheduleAnyway"}, {"nodeAffinityPolicy": "x"}, {"nodeTaintsPolicy": "Honor"},
        {"matchLabelKeys": ["c"]}, {"matchLabelKeys": ["a"]}, {"matchLabelKeys": ["a b"]}, {"labelSelector": {"matchLabels": {"a b": "c"}}}, {"labelSelector": None, "matchLabelKeys": ["c"]}, {"topologyKey": "a b"})] + [[_SPREAD, _SPREAD]],
    "hostAliases": [[one] for one in ({"ip": "1.2.3.4", "hostnames": ["a"]}, {"ip": "x", "hostnames": ["a"]}, {"ip": "1.2.3.4", "hostnames": ["A b"]}, {"hostnames": ["a"]}, {"ip": "1.2.3.4"}, {"ip": "::1", "hostnames": ["a.b"]})],
    "dnsConfig": [{}, {"nameservers": ["x"]}, {"nameservers": ["1.2.3.4"] * 4}, {"nameservers": ["1.2.3.4"]}, {"searches": ["a b"]}, {"searches": ["a.b."]}, {"searches": ["a_b"]}, {"searches": ["."]}, {"searches": ["a"] * 33}, {"searches": ["a" * 63 + "." + "b" * 63] * 17}, {"options": [{"name": ""}]}, {"options": [{"name": "a"}]}],
    "dnsPolicy": ["None", "x", "Default"], "restartPolicy": ["x", "Never"], "activeDeadlineSeconds": [0, -1, 2147483648, 5], "terminationGracePeriodSeconds": [-1, 0], "hostname": ["A", "a.b", _LONG, "a"], "subdomain": ["A", "a.b", "a"], "setHostnameAsFQDN": [True],
    "serviceAccountName": ["A", "a.b", "a_b"], "nodeName": ["A b", "a"], "nodeSelector": [{"a b": "c"}, {"a": "c d"}], "schedulerName": ["A b"], "os": [{"name": "x"}, {"name": "linux"}, {}, {"name": "windows"}],
    "imagePullSecrets": [[{"name": ""}], [{"name": "A b"}]], "readinessGates": [[{"conditionType": "a b"}], [{"conditionType": ""}], [{"conditionType": "a.b/c"}]], "schedulingGates": [[{"name": "a"}], [{"name": ""}], [{"name": "a b"}], [{"name": "a"}, {"name": "a"}]], "hostPID": [True], "shareProcessNamespace": [True],
    "securityContext": [{"runAsUser": -1}, {"runAsGroup": -1}, {"fsGroup": -1}, {"supplementalGroups": [-1]}, {"fsGroupChangePolicy": "x"}, {"fsGroupChangePolicy": "OnRootMismatch"}, {"supplementalGroupsPolicy": "x"}, {"sysctls": [{"name": "a..b", "value": "1"}]}, {"sysctls": [{"name": "", "value": "1"}]},
                        {"sysctls": [{"name": "a.b", "value": "1"}, {"name": "a.b", "value": "2"}]}, {"sysctls": [{"name": "net/ipv4", "value": "1"}]}, {"seccompProfile": {"type": "x"}}, {"seccompProfile": {"type": "Localhost"}}, {"appArmorProfile": {"type": "x"}}, {"seLinuxChangePolicy": "x"}, {"seLinuxChangePolicy": "Recursive"}],
    "resourceClaims": [[one] for one in ({"name": "a", "resourceClaimName": "x"}, {"name": ""}, {"name": "a"}, {"name": "A", "resourceClaimName": "x"}, {"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}, {"name": "a", "resourceClaimName": "A b"})],
    "initContainers": [[one] for one in ({"name": "c", "image": "i"}, {"name": "i"}, {"name": "i", "image": "i", "readinessProbe": _TCP}, {"name": "i", "image": "i", "lifecycle": {"preStop": _TCP}}, {"name": "i", "image": "i", "readinessProbe": _TCP, "restartPolicy": "Always"}, {"name": "i", "image": "i", "restartPolicy": "x"},
                                         {"name": "i", "image": "i", "livenessProbe": {"successThreshold": 2} | _TCP, "restartPolicy": "Always"}, {"name": "i", "image": "i", "startupProbe": _TCP}, {"name": "i", "image": "i", "ports": [{"containerPort": 0}]}, {"name": "i", "image": "i", "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]})] +
                      [[{"name": "i", "image": "i"}, {"name": "i", "image": "i"}]],
    "ephemeralContainers": [[{"name": "e", "image": "i"}]], "hostUsers": [False], "overhead": [{"cpu": "-1"}],
}
# Several members at once.
TOGETHER = [
    {"hostNetwork": True, "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]}, {"hostNetwork": True, "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 81}]}]},
    {"hostPID": True, "shareProcessNamespace": True}, {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.2.3.4"]}}, {"dnsPolicy": "None", "dnsConfig": {}}, {"hostUsers": False, "hostNetwork": True}, {"hostUsers": False, "hostPID": True}, {"hostUsers": False, "hostIPC": True},
    {"os": {"name": "windows"}, "hostPID": True}, {"os": {"name": "windows"}, "securityContext": {"runAsUser": 5}}, {"os": {"name": "linux"}, "securityContext": {"windowsOptions": {"runAsUserName": "x"}}}, {"os": {"name": "windows"}, "hostIPC": True, "shareProcessNamespace": True},
    {"containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]}, {"containers": []}, {"containers": None}, {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]}, {"volumes": [{"name": "A", "emptyDir": {}}]}, {"volumes": [{"emptyDir": {}}]}, {"volumes": [{"name": _LONG, "emptyDir": {}}]},
    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}], "containers": [{"name": "c", "image": "i", "volumeDevices": [{"name": "v", "devicePath": "/d"}]}]},
    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}], "containers": [{"name": "c", "image": "i", "volumeDevices": [{"name": "v", "devicePath": "/d"}], "volumeMounts": [{"name": "v", "mountPath": "/d"}]}]},
    {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "c", "image": "i", "securityContext": {"privileged": True}, "volumeMounts": [{"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}]}]},
    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "w", "persistentVolumeClaim": {"claimName": "c"}}]}, {"volumes": [{"name": "v", "hostPath": {"path": "/a"}}], "containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]}]},
]
