#!/usr/bin/env python3
"""Writes a list of what is in a program, as CycloneDX 1.5 in JSON, to standard output.

Required components are the shared libraries that the loader finds for the program, by the Debian package that owns each; excluded ones
are the packages with which it was built, of which headers and static code may be in it. The same program on the same Debian gives the
same list: its time is SOURCE_DATE_EPOCH, and its serial number comes from what it says.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries_of(program):
    """The files that the loader maps for the program, itself left out."""
    found = re.findall(r"(?:=> )?(/\S+) \(0x", output_of("ldd", program))
    missing = re.findall(r"(\S+) => not found", output_of("ldd", program))
    if missing:
        sys.exit(f"sbom.py: {program} needs what is not there: {', '.join(missing)}")
    return sorted({os.path.realpath(path) for path in found})


def owner_of(path):
    """The package that a file is from. Packages name files of /usr/lib as of /lib, too."""
    for name in (path, path.removeprefix("/usr")):
        asked = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            return asked.stdout.split(": ")[0].split(",")[0].split(":")[0]
    sys.exit(f"sbom.py: no Debian package has {path}")


def licenses_of(package):
    """The short names in the package's copyright file, where that is in the form of DEP 5."""
    path = f"/usr/share/doc/{package}/copyright"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if not text.startswith("Format:"):
        return []
    names = {line.strip() for line in re.findall(r"^License:[ \t]*(\S.*)$", text, re.MULTILINE)}
    return [{"license": {"name": name}} for name in sorted(names)]


def component_of(package, scope):
    status = output_of("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version} ${Architecture} ${source:Package} ${source:Version}\n", package)
    # Of several architectures that of this machine comes first.
    state, version, architecture, source, source_version = status.splitlines()[0].split(" ")
    if state != "installed":
        return None
    purl = f"pkg:deb/debian/{package}@{version}?arch={architecture}&distro=debian-12"
    component = {
        "type": "library",
        "bom-ref": purl,
        "name": package,
        "version": version,
        "scope": scope,
        "purl": purl,
        "properties": [{"name": "debian:source", "value": f"{source} {source_version}"}],
    }
    licenses = licenses_of(package)
    if licenses:
        component["licenses"] = licenses
    return component


def build_packages(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return {name for words in lines if words and words[0] == "build" for name in words[1:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--revision", required=True, help="the commit")
    parser.add_argument("--built-with", required=True, help="hack/packages.txt")
    parser.add_argument("program")
    arguments = parser.parse_args()

    name = os.path.basename(arguments.program)
    with open(arguments.program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    loaded = {owner_of(path) for path in libraries_of(arguments.program)}
    components = [component_of(package, "required") for package in sorted(loaded)]
    components += [component_of(package, "excluded") for package in sorted(build_packages(arguments.built_with) - loaded)]
    components = [component for component in components if component]
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    reference = f"pkg:generic/{name}@{arguments.version}"
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": reference,
                "name": name,
                "version": arguments.version,
                "purl": reference,
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "properties": [{"name": "kubexx:revision", "value": arguments.revision}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": reference, "dependsOn": [each["bom-ref"] for each in components if each["scope"] == "required"]},
        ],
    }
    text = json.dumps(document, sort_keys=True)
    document["serialNumber"] = "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, text))
    print(json.dumps(document, indent=2, sort_keys=True))


main()
