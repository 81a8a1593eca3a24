#!/usr/bin/env python3
"""What the Prometheus operator would make of the chart's ServiceMonitors and PodMonitors, for a Prometheus without it.

monitors.py config FOLDER MONITORS...            prints scrape_configs, one for each monitor of the rendered files MONITORS
monitors.py targets FOLDER OBJECTS MONITORS...   writes their targets to FOLDER; OBJECTS is what `kubectl get
                                                 pods,services,endpointslices -A -o json` says

A monitor selects by its own fields alone: namespaceSelector, selector and the name of the port.
"""
import json
import os
import sys

import yaml  # Debian's python3-yaml

ENDPOINTS = {"ServiceMonitor": "endpoints", "PodMonitor": "podMetricsEndpoints"}
KNOWN_SPEC = {"jobLabel", "namespaceSelector", "selector", "endpoints", "podMetricsEndpoints"}
KNOWN_ENDPOINT = {"port", "path", "honorLabels", "interval"}


def monitors(files):
    """(name, monitor, endpoint) of each; a field that is not translated ends the program."""
    for file in files:
        with open(file, encoding="utf-8") as text:
            for each in yaml.safe_load_all(text):
                if not each or each["kind"] not in ENDPOINTS:
                    continue
                spec = each["spec"]
                (endpoint,) = spec[ENDPOINTS[each["kind"]]]
                unknown = set(spec) - KNOWN_SPEC | set(endpoint) - KNOWN_ENDPOINT
                if unknown:
                    sys.exit(f"{file}: fields that are not translated: {sorted(unknown)}")
                yield "-".join((each["kind"], each["metadata"]["namespace"], each["metadata"]["name"])), each, endpoint


def selects(monitor, item):
    metadata, spec = item["metadata"], monitor["spec"]
    return (metadata["namespace"] in spec["namespaceSelector"]["matchNames"] and
            spec["selector"]["matchLabels"].items() <= metadata.get("labels", {}).items())


def target(address, port, labels, **names):
    return {"targets": [f"{address}:{port}"], "labels": {"job": labels, **{k: v for k, v in names.items() if v}}}


def pod_targets(monitor, endpoint, items):
    for pod in items:
        if pod["kind"] != "Pod" or not selects(monitor, pod) or "podIP" not in pod["status"]:
            continue
        for container in pod["spec"]["containers"]:
            for port in container.get("ports", []):
                if port.get("name") == endpoint["port"]:
                    metadata = pod["metadata"]
                    yield target(pod["status"]["podIP"], port["containerPort"],
                                 metadata["labels"][monitor["spec"]["jobLabel"]], namespace=metadata["namespace"],
                                 pod=metadata["name"], container=container["name"])


def service_targets(monitor, endpoint, items):
    for service in items:
        if service["kind"] != "Service" or not selects(monitor, service):
            continue
        metadata = service["metadata"]
        for each in items:
            if (each["kind"] != "EndpointSlice" or each["metadata"]["namespace"] != metadata["namespace"] or
                    each["metadata"]["labels"].get("kubernetes.io/service-name") != metadata["name"]):
                continue
            for port in each.get("ports") or []:
                if port.get("name") != endpoint["port"]:
                    continue
                for one in each.get("endpoints") or []:
                    yield target(one["addresses"][0], port["port"], metadata["labels"][monitor["spec"]["jobLabel"]],
                                 namespace=metadata["namespace"], service=metadata["name"],
                                 pod=one.get("targetRef", {}).get("name"))


def config(folder, files):
    jobs = [{"job_name": name, "metrics_path": endpoint["path"], "honor_labels": endpoint["honorLabels"],
             **({"scrape_interval": endpoint["interval"]} if "interval" in endpoint else {}),
             "file_sd_configs": [{"files": [f"{folder}/{name}.json"]}]} for name, _, endpoint in monitors(files)]
    if not jobs:
        sys.exit("there are no monitors")
    yaml.safe_dump({"scrape_configs": jobs}, sys.stdout, sort_keys=False)


def targets(folder, objects, files):
    with open(objects, encoding="utf-8") as text:
        items = json.load(text)["items"]
    for name, monitor, endpoint in monitors(files):
        find = service_targets if monitor["kind"] == "ServiceMonitor" else pod_targets
        with open(f"{folder}/{name}.new", "w", encoding="utf-8") as file:
            json.dump(list(find(monitor, endpoint, items)), file)
        os.rename(f"{folder}/{name}.new", f"{folder}/{name}.json")


def main(arguments):
    if len(arguments) > 2 and arguments[0] == "config":
        config(arguments[1], arguments[2:])
    elif len(arguments) > 3 and arguments[0] == "targets":
        targets(arguments[1], arguments[2], arguments[3:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
