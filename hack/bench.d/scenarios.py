"""What is measured: each function is one scenario."""

import json
import subprocess
from contextlib import ExitStack

from programs import Replay, alternate, log


def sync_commands(programs, kubeconfig):
    commands = [
        [programs.kubexx, "sync", "--kubeconfig", kubeconfig],
        [programs.clientgo, "sync", "--kubeconfig", kubeconfig],
    ]
    if programs.kubers:
        commands.append([programs.kubers, "sync", "--streaming", "--kubeconfig", kubeconfig])
    return commands


def sync(programs, results, settings):
    log(f"sync: {settings.objects} pods of a real API server")
    alternate(results, "sync", settings.runs, sync_commands(programs, settings.kubeconfig), prepare=True)


def variants(programs, results, settings):
    log("sync: other ways to do it, kubexx and client-go with a handler that reads every object")
    base = [programs.kubexx, "sync", "--kubeconfig", settings.kubeconfig]
    for name, flags in (
        ("sync-list", ["--watch-list=false"]),
        ("sync-json", ["--encoding=json"]),
        ("sync-object", ["--handler=object"]),
    ):
        alternate(results, name, settings.runs, [base + flags])
    alternate(results, "sync-object", settings.runs, [
        [programs.clientgo, "sync", "--handler=object", "--kubeconfig", settings.kubeconfig]])


def reads(programs, results, settings):
    log("reads of the store")
    command = [programs.kubexx, "sync", "--kubeconfig", settings.kubeconfig, "--index", "--reads", str(settings.reads)]
    alternate(results, "reads", settings.runs, [command])


def watch_scenarios(settings):
    """Name, templates, updates, pods, how many of these are updated (0: all), and whether in no order."""
    return (
        ("watch", "small-pods.jsonl", settings.events, settings.watched, settings.watched // 2, False),
        ("watch-random", "small-pods.jsonl", settings.events // 2, settings.watched * 5, 0, True),
        ("watch-spread", "small-pods.jsonl", settings.events // 2, settings.watched * 10, 0, False),
        ("watch-large", "pods.jsonl", settings.events // 4, settings.watched, settings.watched // 8, False),
    )


def watch(programs, results, settings):
    for scenario, templates, events, objects, busy, random in watch_scenarios(settings):
        log(f"{scenario}: {events} updates")
        lead = max(events // 20, 1)
        flags = ["--events", str(events), "--lead", str(lead)]
        with Replay(programs, settings.folder, results, scenario, templates=settings.template(templates), busy=busy, random=random,
                    objects=objects, events=events + lead + 100) as server:
            commands = [[program, "watch", "--kubeconfig", server.kubeconfig] + flags
                        for program in (programs.kubexx, programs.clientgo)]
            if programs.kubers and scenario == "watch":
                commands.append([programs.kubers, "watch", "--streaming", "--kubeconfig", server.kubeconfig] + flags)
            # Other handlers of kubexx: one that reads single fields of both objects, and one that takes the key.
            others = [(f"{scenario}-{handler}", commands[0] + [f"--handler={handler}"]) for handler in ("fields", "key")]
            alternate(results, scenario, settings.runs, commands, others=others)


# What the select scenario looks for: one of so many pods, by the label that the replay server gives it.
RARE = 100
SELECTOR = "tier=rare"


def select(programs, results, settings):
    log(f"select: lists of one in {RARE} of {settings.selected} pods in the cache")
    flags = ["--selector", SELECTOR, "--reads", str(settings.lists)]
    with Replay(programs, settings.folder, results, "select", templates=settings.template("pods.jsonl"), objects=settings.selected,
                rare=RARE) as server:
        alternate(results, "select", settings.runs, [[program, "select", "--kubeconfig", server.kubeconfig] + flags
                                                     for program in (programs.kubexx, programs.clientgo)])


def queue(programs, results, settings):
    for threads in (1, 8):
        log(f"queue: {settings.operations} operations, {threads} threads")
        flags = ["--operations", str(settings.operations), "--threads", str(threads)]
        alternate(results, f"queue-{threads}", settings.runs,
                  [[programs.kubexx, "queue"] + flags, [programs.workqueue] + flags])


def scale(programs, results, settings):
    log(f"scale: {', '.join(str(objects) for objects in settings.scale)} pods of the replay server")
    with ExitStack() as servers:
        commands = []
        for objects in settings.scale:
            server = servers.enter_context(
                Replay(programs, settings.folder, results, f"scale-{objects}", templates=settings.template("pods.jsonl"), objects=objects))
            commands.append((f"scale-{objects}", [programs.kubexx, "sync", "--kubeconfig", server.kubeconfig]))
        alternate(results, "scale", settings.runs, [], others=commands)


def replay_rate(programs, results, settings):
    """How fast the replay server makes events when nobody has to be waited for."""
    for templates in ("small-pods.jsonl", "pods.jsonl"):
        out = subprocess.run([programs.replay, "rate", "--templates", settings.template(templates)],
                             capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            results.add("replay-" + templates.removesuffix(".jsonl"), 1, json.loads(line))
