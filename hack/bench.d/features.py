"""Measures what kubexx-reloader does besides rolling: previews, warnings at admission, waves and their way back, and the memory of all of it; from
outside, against a real API server. Writes docs/bench/features.md. Called by hack/bench --features."""

import json
import os
import statistics
import subprocess
import sys
import time

from operators import Measured, Operator, check, in_other_cluster, memory, settings_of
from outside import Figure, middle, write
from programs import log

WEBHOOK = "127.0.0.1:19443"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONFIGURATION = "tools.kubexx-reloader-admission"
POLICY = """apiVersion: kubexx.io/v1alpha1
kind: ReloadPolicy
metadata: {name: careful, namespace: waves}
spec: {settleWindow: 100ms, waves: {sizes: [{count: 5}], healthyFor: 3s, timeout: 5m, onFailure: Restore}}
"""


def kubectl(settings, *arguments, given=None):
    """What kubectl prints; ends everything when it fails."""
    done = subprocess.run(["kubectl", "--kubeconfig", settings.kubeconfig, *arguments], input=given, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"bench: kubectl {' '.join(arguments[:3])} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


def fill(measured, namespace, configmaps=0, secrets=0, deployments=0):
    measured.rollouts("fill", "--namespace", namespace, "--configmaps", str(configmaps), "--secrets", str(secrets), "--deployments", str(deployments),
                      timeout=3600)


def previews(settings, measured, objects):
    """Runs `preview` of a change of the only ConfigMap in the namespace `shared`."""
    changed = os.path.join(settings.folder, "changed.json")
    rows = []
    for turn in range(settings.runs):
        with open(changed, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config-000000", "namespace": "shared"},
                       "data": {"value": f"changed {turn}"}}, file)
        began = time.monotonic()
        done = subprocess.run([os.path.join(settings.build, "bin", "kubexx-reloader"), "preview", "--kubeconfig", settings.kubeconfig, "-f", changed,
                               "-o", "json"], capture_output=True, text=True, timeout=120, check=False)
        took = (time.monotonic() - began) * 1000
        if done.returncode != 0:
            sys.exit(f"bench: preview failed: {done.stderr.strip()[-2000:]}")
        rows.append(measured.add({"command": "preview", "objects": objects, "workloads": len(json.loads(done.stdout)["rollouts"]),
                                  "took_ms": round(took, 1)}))
    return rows


def preview(settings, measured):
    workloads, others = 2000 // settings.smaller, 10000 // settings.smaller
    log(f"preview: a ConfigMap of {workloads} Deployments, alone and beside {2 * others} other objects")
    fill(measured, "shared", configmaps=1, deployments=workloads)
    alone = previews(settings, measured, workloads + 1)
    fill(measured, "others", configmaps=others, secrets=others)
    beside = previews(settings, measured, workloads + 1 + 2 * others)
    if {row["workloads"] for row in alone + beside} != {workloads}:
        sys.exit(f"bench: the previews do not name {workloads} workloads")
    what = f"preview of a ConfigMap with {workloads:,} workloads"
    return [Figure(what, middle(alone, "took_ms"), 200, unit=" ms"),
            Figure(f"the same, beside {2 * others:,} other ConfigMaps and Secrets", middle(beside, "took_ms"), 200, unit=" ms")]


def configurations(settings):
    """Those of the webhooks as the chart makes them, with a URL in the place of the Service."""
    chart = os.path.join(ROOT, "helm", "kubexx-reloader")
    rendered = subprocess.run(["helm", "template", "reloader", chart, "--kube-version", "1.33.0", "--set", "kubexx.admission.enabled=true",
                               "--set", "kubexx.admission.warnings=true", "--show-only", "templates/admission.yaml"],
                              capture_output=True, text=True, check=True).stdout
    # kubectl writes one object after the other, not a list.
    text, decoder, made = kubectl(settings, "create", "--dry-run=client", "-o", "json", "-f", "-", given=rendered), json.JSONDecoder(), []
    while text.strip():
        one, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        if one["kind"].endswith("WebhookConfiguration"):
            one["metadata"]["name"] = CONFIGURATION
            for webhook in one["webhooks"]:
                webhook["clientConfig"] = {"url": f"https://{WEBHOOK}{webhook['clientConfig']['service']['path']}"}
            made.append(one)
    return made


def written_by_operator(settings, kinds):
    """The configurations once the operator has written its certificate into them, ready to be created anew."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = [json.loads(kubectl(settings, "get", kind, CONFIGURATION, "-o", "json")) for kind in kinds]
        if all("caBundle" in webhook["clientConfig"] for one in found for webhook in one["webhooks"]):
            for one in found:
                one["metadata"] = {"name": CONFIGURATION}
            return found
        time.sleep(0.2)
    sys.exit("bench: the operator writes no certificate into the webhooks' configurations")


def admission(settings, measured):
    """Dry runs of an apply, with the webhooks and without them in turns."""
    workloads = 2000 // settings.smaller
    log(f"admission: applies to a ConfigMap of {workloads} Deployments, and to one of a single one")
    for namespace, deployments in (("shared", workloads), ("single", 1)):
        fill(measured, namespace, configmaps=1, deployments=deployments)
    kubectl(settings, "create", "namespace", "tools")
    made = configurations(settings)
    for one in made:
        kubectl(settings, "create", "-f", "-", given=json.dumps(one))
    kinds = [one["kind"].lower() for one in made]
    seconds = f"{max(5, settings.seconds // 3)}s"
    added = {"shared": [], "single": []}
    with Operator(settings, "--admission", "--admission-warnings", f"--admission-addr={WEBHOOK}", f"--admission-url=https://{WEBHOOK}"):
        made = written_by_operator(settings, kinds)
        for turn in range(settings.runs):
            for namespace, differences in added.items():
                p99 = {}
                for warned in (True, False) if turn % 2 == 0 else (False, True):
                    for one in made:
                        kubectl(settings, "delete", one["kind"].lower(), CONFIGURATION, "--ignore-not-found")
                        if warned:
                            kubectl(settings, "create", "-f", "-", given=json.dumps(one))
                    row = measured.rollouts("applies", "--namespace", namespace, "--rate", "50", "--for", seconds, f"--warned={str(warned).lower()}")
                    if row["otherwise"] > 0:
                        sys.exit(f"bench: {row['otherwise']} of {row['applies']} applies were {'not ' if warned else ''}warned of")
                    p99[warned] = row["p99_ms"]
                differences.append(p99[True] - p99[False])
    return [Figure(f"what the warning adds to an apply to a ConfigMap of {workloads:,} workloads, 99th percentile", statistics.median(added["shared"]), 10,
                   unit=" ms"),
            Figure("the same, of one workload", statistics.median(added["single"]), 10, unit=" ms")]


def install_crds(settings):
    kubectl(settings, "apply", "--server-side", "-f", os.path.join(ROOT, "manifests", "crds.yaml"))
    kubectl(settings, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def waves(settings, measured):
    """A ConfigMap with which rollouts fail, again and again, under a policy that puts the last good data back."""
    deployments = max(10, 500 // settings.smaller)
    log(f"waves: one ConfigMap of {deployments} Deployments, a canary of 5, data with which they fail")
    install_crds(settings)
    kubectl(settings, "create", "namespace", "tools")
    kubectl(settings, "create", "namespace", "waves")
    kubectl(settings, "create", "-f", "-", given=POLICY)
    with Operator(settings, "--allow-restore"):
        rows = [measured.rollouts("waves", "--namespace", "waves", "--deployments", str(deployments), timeout=1800) for _ in range(settings.runs)]
    return [Figure(f"{deployments} workloads, a canary of 5, bad data: the most that ever had them", max(row["ever_bad"] for row in rows), 5),
            Figure("from the failure until all serve the last good data again", middle(rows, "back_s"), 60, unit=" s"),
            Figure("the longest of them", max(row["back_s"] for row in rows), 60, unit=" s")]


def memory_of_all(settings, measured):
    """As operators.memory, with all that can be switched on."""
    install_crds(settings)
    kubectl(settings, "create", "namespace", "tools")
    for one in configurations(settings):
        kubectl(settings, "create", "-f", "-", given=json.dumps(one))
    os.environ |= {"POD_NAME": "bench", "POD_NAMESPACE": "tools"}
    flags = ("--admission", "--admission-warnings", f"--admission-addr={WEBHOOK}", f"--admission-url=https://{WEBHOOK}", "--allow-restore", "--enable-ha",
             "--shards=4", "--reload-in-place", "--history=10", "--health-gate", "--keys=Referenced", "--enable-csi-integration")
    return memory(settings, measured, (10000, 10000, 2000), (30, 0), flags, "with all features")


def main():
    settings = settings_of("preview,admission,waves,memory")
    os.environ["RELOADER_NAMESPACE"] = "tools"
    measured = Measured(settings)
    parts = {"preview": preview, "admission": admission, "waves": waves, "memory": memory_of_all}
    figures = [figure for name in settings.parts.split(",") for figure in in_other_cluster(parts[name], settings, measured, name)]
    write(os.path.join(settings.out, "features.md"), "What kubexx-reloader does besides rolling, measured from outside", f"""Written by `hack/bench --features` on {time.strftime('%Y-%m-%d')}; {settings.machine}. A real kube-apiserver and etcd and the load generator share the
machine with the operator. Deployments have no controller: in the waves, the load generator writes their status. Applies are dry runs on the server, 50 a
second, with the webhooks and without them in turns. Medians of {settings.runs} runs where it does not say otherwise.""", figures, measured.rows)
    check(settings, figures)


if __name__ == "__main__":
    main()
