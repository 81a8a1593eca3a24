"""Makes Services and changes them, and compares what both servers give them and what they refuse. forms.py calls it.

Addresses and ports that a server has chosen are compared by where they come from, and by whether they stay.
"""

import json

from validation import refused_or

_PORT = {"ports": [{"port": 80}]}
_TWO = {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}
_DNS = {"ports": [{"name": "t", "port": 53}, {"name": "u", "port": 53, "protocol": "UDP"}]}
_NODE = {"type": "NodePort"}
_BALANCER = {"type": "LoadBalancer"}
_LOCAL = _BALANCER | {"externalTrafficPolicy": "Local"}
_NAME = {"type": "ExternalName", "externalName": "a.b"}
_HEADLESS = {"clusterIP": "None"}
_SELECTOR = {"selector": {"a": "b"}}


def _ports(*ports):
    return {"ports": list(ports)}


# What a Service is made of, and the patches, one after the other.
CHANGES = [
    (_PORT, [{"clusterIP": None, "clusterIPs": None}, {"clusterIP": "10.0.0.9"}, {"clusterIPs": ["10.0.0.9"]}, {"clusterIP": "None"}, {"clusterIPs": None},
             {"ipFamilies": None}, {"ipFamilies": ["IPv6"]}, {"ipFamilyPolicy": None}, {"ipFamilyPolicy": "PreferDualStack"}, {"ipFamilyPolicy": "RequireDualStack"},
             {"ipFamilyPolicy": "SingleStack"}, {"ipFamilyPolicy": "x"}, {"type": "x"}, _SELECTOR]),
    (_PORT, [_NODE, {"type": "ClusterIP"}, _BALANCER, {"externalTrafficPolicy": "Local"}, {"healthCheckNodePort": 30019}, {"healthCheckNodePort": None},
             {"externalTrafficPolicy": "Cluster"}, {"allocateLoadBalancerNodePorts": False}, {"ports": [{"port": 81}]}, {"loadBalancerClass": "a/b"}, _NODE,
             _NAME, {"type": "ClusterIP"}, _NAME | {"clusterIP": ""}, {"type": "NodePort", "clusterIP": "10.0.0.8"}]),
    (_HEADLESS | _PORT, [{"clusterIP": None, "clusterIPs": None}, {"clusterIP": "10.0.0.9"}, {"clusterIP": "", "clusterIPs": None}, _SELECTOR, _NODE, _NAME,
                         {"type": "ClusterIP"}]),
    (_HEADLESS | _PORT | _SELECTOR, [{"clusterIP": "10.0.0.9"}, {"clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9"]}, {"ipFamilies": ["IPv6"]}, {"selector": None}]),
    (_NAME, [{"externalName": ""}, {"externalName": "a.b."}, {"clusterIP": "10.0.0.9"}, {"clusterIP": "", "type": "ClusterIP"}, {"type": "ClusterIP"} | _PORT]),
    (_NODE | _TWO, [{"ports": [{"name": "b", "port": 82}, {"name": "c", "port": 83}]}, {"ports": [{"name": "b", "port": 82, "nodePort": 30017}]},
                    {"ports": [{"name": "b", "port": 82, "nodePort": 17}]}, {"ports": [{"name": "b", "port": 82, "nodePort": 30017}, {"name": "c", "port": 83, "nodePort": 30017}]},
                    {"type": "ClusterIP"} | _ports({"port": 80, "nodePort": 30018}), {"type": "ClusterIP"}, {"externalIPs": ["1.2.3.4"]}, {"externalIPs": None}]),
    (_BALANCER | _PORT | {"allocateLoadBalancerNodePorts": False}, [{"allocateLoadBalancerNodePorts": True}, _ports({"port": 81}), {"loadBalancerClass": "a/b"}]),
    (_BALANCER | _PORT | {"loadBalancerClass": "a/b", "loadBalancerSourceRanges": ["1.2.3.4/16"]}, []),
    (_BALANCER | _PORT | {"loadBalancerClass": "a/b"}, [{"loadBalancerClass": "a/c"}, {"loadBalancerClass": None}, {"loadBalancerSourceRanges": ["172.0.0.0/8", "x"]},
                                                        {"type": "ClusterIP"}]),
    (_LOCAL | _PORT | {"healthCheckNodePort": 30016}, [{"type": "NodePort"}, {"type": "LoadBalancer"}, {"healthCheckNodePort": 30015}]),
]
# What is made, with what is refused among it.
SPECS = [spec | _PORT for spec in (
    {"clusterIP": "10.0.0.7"}, {"clusterIP": "10.0.0.1"}, {"clusterIP": "10.0.0.0"}, {"clusterIP": "10.0.0.255"}, {"clusterIP": "192.168.77.1"}, {"clusterIP": "x"},
    {"clusterIP": "010.0.0.7"}, {"clusterIP": "fd00::1"}, {"clusterIP": "::ffff:10.0.0.7"}, {"clusterIPs": ["10.0.0.7"]}, {"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.6"]},
    {"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7", "10.0.0.6"]}, {"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7", "fd00::1"]},
    {"clusterIP": "None", "clusterIPs": ["None", "10.0.0.7"]}, {"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7", "fd00::1", "10.0.0.6"]},
    {"ipFamilies": ["IPv4"]}, {"ipFamilies": ["IPv6"]}, {"ipFamilies": ["IPv4", "IPv6"]}, {"ipFamilies": ["IPv4", "IPv4"]}, {"ipFamilies": ["x"]},
    {"ipFamilyPolicy": "PreferDualStack"}, {"ipFamilyPolicy": "RequireDualStack"}, {"ipFamilyPolicy": "x"}, {"ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv4", "IPv6"]},
    _HEADLESS, _HEADLESS | {"ipFamilies": ["IPv6"]}, _HEADLESS | {"ipFamilyPolicy": "SingleStack"}, _HEADLESS | _SELECTOR, _HEADLESS | _SELECTOR | {"ipFamilies": ["IPv6"]},
    _HEADLESS | _NODE, _HEADLESS | _BALANCER, _NAME, _NAME | {"clusterIP": "10.0.0.7"}, _NAME | {"ipFamilies": ["IPv4"]}, _NAME | {"ipFamilyPolicy": "SingleStack"},
    _NAME | {"externalName": ""}, _NAME | {"externalName": "a_b"}, _NAME | {"internalTrafficPolicy": "Local"}, _NAME | {"internalTrafficPolicy": "x"},
    {"externalTrafficPolicy": "Cluster"}, {"externalTrafficPolicy": "Local"}, _NODE | {"externalTrafficPolicy": "Local"}, _NODE | {"externalTrafficPolicy": "x"},
    {"healthCheckNodePort": 30014}, _NODE | {"healthCheckNodePort": 30014}, _LOCAL, _LOCAL | {"healthCheckNodePort": 14}, _LOCAL | {"healthCheckNodePort": 30014},
    {"allocateLoadBalancerNodePorts": False}, _BALANCER | {"allocateLoadBalancerNodePorts": False}, {"loadBalancerClass": "a/b"}, _BALANCER | {"loadBalancerClass": "a b"},
    {"loadBalancerSourceRanges": ["172.0.0.0/8"]}, _BALANCER | {"loadBalancerSourceRanges": [" 172.0.0.0/8 "]}, _BALANCER | {"loadBalancerSourceRanges": ["172.0.0.0/08", "fd00::/8", "1.2.3.4"]},
    {"trafficDistribution": "PreferClose"}, {"trafficDistribution": "x"}, {"internalTrafficPolicy": "Local"},
    {"sessionAffinity": "ClientIP"}, {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 86401}}},
    {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {}}}, {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}},
    {"selector": {"a b": "c"}}, {"selector": {"a": "b c"}}, {"selector": {}}, {"publishNotReadyAddresses": True})] + [
    {"externalIPs": [address]} | _PORT for address in ("1.2.3.4", "x", "", "0.0.0.0", "127.0.0.1", "::1", "169.254.1.1", "fe80::1", "224.0.0.1", "ff02::1", "::", "01.2.3.4", "::ffff:1.2.3.4")] + [
    _NODE | ports for ports in (
        _TWO, _DNS, _ports({"port": 80, "nodePort": 30013}), _ports({"port": 80, "nodePort": 80}), _ports({"port": 80, "nodePort": 32768}), _ports({"port": 80, "nodePort": -1}),
        _ports({"name": "a", "port": 80, "nodePort": 30012}, {"name": "b", "port": 81, "nodePort": 30012}),
        _ports({"name": "a", "port": 80, "nodePort": 30012}, {"name": "b", "port": 80, "protocol": "UDP", "nodePort": 30012}),
        _ports({"name": "a", "port": 80}, {"name": "b", "port": 80, "protocol": "UDP", "nodePort": 30012}),
        _ports({"name": "a", "port": 80, "nodePort": 30011}, {"name": "b", "port": 80, "protocol": "UDP", "nodePort": 30012}))] + [
    _ports({"port": 80} | port) for port in (
        {"nodePort": 30013}, {"name": "a"}, {"name": "A"}, {"name": "a-"}, {"name": "a" * 64}, {"port": 0}, {"port": 65536}, {"port": -1}, {"protocol": "SCTP"}, {"protocol": "tcp"},
        {"targetPort": 0}, {"targetPort": 65536}, {"targetPort": "a"}, {"targetPort": ""}, {"targetPort": "80"}, {"targetPort": "A"}, {"targetPort": "a--b"}, {"targetPort": "-a"},
        {"targetPort": "a" * 16}, {"targetPort": "a_b"}, {"appProtocol": "http"}, {"appProtocol": "a b"}, {"appProtocol": "kubernetes.io/h2c"}, {"appProtocol": ""})] + [
    _ports(), {}, _HEADLESS, _TWO, _DNS, _ports({"port": 80}, {"port": 81}), _ports({"name": "a", "port": 80}, {"name": "a", "port": 81}),
    _ports({"name": "a", "port": 80}, {"name": "b", "port": 80}), _ports({"name": "a", "port": 80, "targetPort": 1}, {"name": "b", "port": 81, "targetPort": 1})]


class _Seen:
    """Addresses and ports of one Service on one server, by the order in which they came up. `network` is what the server's
    addresses begin with; those of the cases are of 10.0.0."""

    def __init__(self, network, *named):
        self._network, self._named, self._names = network, json.dumps(named), {}

    def sent(self, body):
        return json.loads(json.dumps(body).replace('"10.0.0.', f'"{self._network}'))

    def _name(self, value):
        if isinstance(value, str) and value.startswith(self._network):
            value = "10.0.0." + value.removeprefix(self._network)
        if json.dumps(value) in self._named or value in (None, 0, "None", "", "10.0.0.0"):
            return value
        where = "address" if isinstance(value, str) else "port"
        inside = value.startswith("10.0.0.") if isinstance(value, str) else 30000 <= value <= 32767
        return self._names.setdefault(value, f"<{where} {len(self._names)}, {'of the range' if inside else 'of none'}>")

    def of(self, spec):
        plain = dict(spec)
        for member in ("clusterIP", "healthCheckNodePort"):
            if member in plain:
                plain[member] = self._name(plain[member])
        if "clusterIPs" in plain:
            plain["clusterIPs"] = [self._name(one) for one in plain["clusterIPs"]]
        plain["ports"] = [port | ({"nodePort": self._name(port["nodePort"])} if "nodePort" in port else {}) for port in plain.get("ports", [])]
        return plain


def _network_of(side):
    address = side.ask("GET", "/api/v1/namespaces/default/services/kubernetes").body["spec"]["clusterIP"]
    return address[:address.rindex(".") + 1]


def compare_services(comparison, namespace):
    path = f"/api/v1/namespaces/{namespace}/services"
    networks = {side: _network_of(side) for side in comparison.sides}

    def delete(name):
        for side in comparison.sides:
            side.ask("DELETE", f"{path}/{name}")

    def compare(what, seen, method, name, body, content_type="application/json"):
        comparison.same(what, *(refused_or(side.ask(method, path + name, seen[side].sent(body), content_type=content_type),
                                           lambda made, s=side: seen[s].of(made["spec"])) for side in comparison.sides))

    for spec in SPECS:
        for query in ("", "?dryRun=All"):
            seen = {side: _Seen(network, spec) for side, network in networks.items()}
            compare(f"a Service of {json.dumps(spec)}{query}", seen, "POST", query, {"metadata": {"name": "made"}, "spec": spec})
            delete("made")
    for spec, patches in CHANGES:
        seen = {side: _Seen(network, spec, patches) for side, network in networks.items()}
        body = {"metadata": {"name": "changed"}, "spec": spec}
        compare(f"a Service of {json.dumps(spec)}", seen, "POST", "", body)
        for patch in patches:
            compare(f"a Service of {json.dumps(spec)} with {json.dumps(patch)}", seen, "PATCH", "/changed", {"spec": patch}, "application/merge-patch+json")
        compare(f"a Service of {json.dumps(spec)}, once more", seen, "PUT", "/changed", body)  # As it was once applied.
        delete("changed")
