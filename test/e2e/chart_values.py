#!/usr/bin/env python3
"""The values that the documentation of stakater/Reloader's chart knows (test/manifests/reloader_values.json), and our chart.

chart_values.py alone HELM CHART         renders the chart with each value by itself: it is taken and has its effect
chart_values.py without HELM CHART       renders the chart with each of its values left out: it can, or says in one line what to do
chart_values.py batches FOLDER           writes as few values files as there can be that have every value: FOLDER/1.json, ...
chart_values.py shown NUMBER OBJECTS     the values of that file show in OBJECTS, a List of what is in the cluster

A value of the file has a `name`, a `value` that is not the default, other values that it needs to have an effect (`with`), names
of those that contradict it (`apart`), and in `shows` a jq filter on the release's objects: true with the value, not so without.
A value without effect has null there.
"""
import concurrent.futures
import copy
import json
import pathlib
import subprocess
import sys

import yaml  # Debian's python3-yaml

VALUES = json.loads((pathlib.Path(__file__).parent.parent / "manifests" / "reloader_values.json").read_text(encoding="utf-8"))
# What a filter is written with.
WORDS = r"""
def kind($kind): .[] | select(.kind == $kind);
def deployment: kind("Deployment");
def pod: deployment.spec.template.spec;
def container: pod.containers[0];
def flag(names): [container.args[]?] as $args | any(names; . as $name | $args | index($name) != null);
def variable($name): container.env[] | select(.name == $name);
def mounts($path): any(container.volumeMounts[]?; .mountPath == $path);
def may($group; $resource; $verb): any(.[] | select(.kind == "ClusterRole" or .kind == "Role").rules[];
  (.apiGroups | index($group)) and (.resources | index($resource)) and (.verbs | index($verb)));
"""
# What the chart asks the cluster for.
CLUSTER = ["--kube-version", "1.33.0", "--api-versions", "monitoring.coreos.com/v1", "--api-versions", "autoscaling.k8s.io/v1"]


def nested(flat):
    """{"a.b": 1} as {"a": {"b": 1}}."""
    values = {}
    for name, value in flat.items():
        *path, last = name.split(".")
        place = values
        for part in path:
            place = place.setdefault(part, {})
        place[last] = copy.deepcopy(value)
    return values


def render(helm, chart, flat):
    """The release's objects as a list; a chart that refuses the values ends the program."""
    done = subprocess.run([helm, "template", "reloader", chart, "--namespace", "tools", *CLUSTER, "--values", "-"],
                          input=json.dumps(nested(flat)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the chart refuses {json.dumps(flat)}: {done.stderr}")
    return [each for each in yaml.load_all(done.stdout, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if each]


def shown(questions):
    """Whether the filter of each (filter, objects) is true."""
    program = WORDS + "[" + ",\n".join(
        f"(.[{number}] | [try ({filter}) catch false] | any)" for number, (filter, _) in enumerate(questions)) + "]"
    done = subprocess.run(["jq", "-c", program], input=json.dumps([objects for _, objects in questions]),
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"a filter is wrong: {done.stderr}")
    return json.loads(done.stdout)


def alone(helm, chart):
    wanted = [{**each.get("with", {}), each["name"]: each["value"]} for each in VALUES] + [each.get("with", {}) for each in VALUES]
    different = {json.dumps(each, sort_keys=True): each for each in wanted}
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        rendered = dict(zip(different, threads.map(lambda each: render(helm, chart, each), different.values())))
    objects = [rendered[json.dumps(each, sort_keys=True)] for each in wanted]
    having, lacking = objects[:len(VALUES)], objects[len(VALUES):]
    effect = [number for number, each in enumerate(VALUES) if each["shows"] is not None]
    has = shown([(VALUES[number]["shows"], having[number]) for number in effect])
    had = shown([(VALUES[number]["shows"], lacking[number]) for number in effect])
    faults = []
    for number, yes, before in zip(effect, has, had):
        if not yes:
            faults.append(f"{VALUES[number]['name']} has no effect: not {VALUES[number]['shows']}")
        if before:
            faults.append(f"{VALUES[number]['name']}: without it there is {VALUES[number]['shows']}, too")
    for number, each in enumerate(VALUES):
        if each["shows"] is None and having[number] != lacking[number]:
            faults.append(f"{each['name']} has an effect")
    return faults


def paths(values, above=""):
    """The names of all values."""
    for name, value in values.items():
        yield above + name
        if isinstance(value, dict):
            yield from paths(value, f"{above}{name}.")


def without(helm, chart):
    """As with the values of an older chart, which lack what has been added since."""
    names = list(paths(yaml.safe_load((pathlib.Path(chart) / "values.yaml").read_text(encoding="utf-8"))))

    def fault(name):
        done = subprocess.run([helm, "template", "reloader", chart, *CLUSTER, "--set", f"{name}=null"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            says = f"the values lack {name}," in done.stderr and "--reset-then-reuse-values" in done.stderr
            return None if says else f"without {name}: {done.stderr}"
        holes = [line.strip() for line in done.stdout.splitlines() if "<nil>" in line or "<no value>" in line]
        return f"without {name} it renders {holes[0]}" if holes else None

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        return [each for each in threads.map(fault, names) if each]


def contradict(one, other):
    """Whether two values cannot be in one file."""
    return other["name"] in one.get("apart", []) or one["name"] in other.get("apart", [])


def batches():
    """The values as lists, each of which can be in one file."""
    found = []
    for each in VALUES:
        for batch in found:
            if not any(contradict(each, other) for other in batch):
                batch.append(each)
                break
        else:
            found.append([each])
    return found


def flat_batch(batch):
    flat = {}
    for each in batch:
        for name, value in [*each.get("with", {}).items(), (each["name"], each["value"])]:
            if flat.setdefault(name, value) != value:
                sys.exit(f"{each['name']} wants another {name} than others of its file; say so in `apart`")
    return flat


def main(command, *arguments):
    faults = []
    if command == "alone":
        faults = alone(*arguments)
    elif command == "without":
        faults = without(*arguments)
    elif command == "batches":
        for number, batch in enumerate(batches(), 1):
            path = pathlib.Path(arguments[0]) / f"{number}.json"
            path.write_text(json.dumps(nested(flat_batch(batch))), encoding="utf-8")
    elif command == "shown":
        batch = [each for each in batches()[int(arguments[0]) - 1] if each["shows"] is not None]
        objects = json.loads(pathlib.Path(arguments[1]).read_text(encoding="utf-8"))["items"]
        answers = shown([(each["shows"], objects) for each in batch])
        faults = [f"{each['name']}: not {each['shows']}" for each, yes in zip(batch, answers) if not yes]
    else:
        sys.exit(__doc__)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main(*sys.argv[1:])
