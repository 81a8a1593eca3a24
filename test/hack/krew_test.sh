#!/usr/bin/env bash
# The krew manifest of hack/krew: it names the archive's digest, and the archive holds a program that works as `kubectl reloader`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "krew: $*" >&2; exit 1; }

"$root/hack/krew" --uri https://example.com/releases/v1/ --homepage https://example.com/kubexx --out "$work/one" >"$work/said"
"$root/hack/krew" --uri https://example.com/releases/v1 --homepage https://example.com/kubexx --out "$work/two" >/dev/null
archive=$(cd "$work/one" && echo kubectl-reloader_*_linux_*.tar.gz)
cmp "$work/one/$archive" "$work/two/$archive" || fail "the archive differs from one time to the next"
cmp "$work/one/reloader.yaml" "$work/two/reloader.yaml" || fail "the manifest differs from one time to the next"
grep -qxF "$work/one/$archive" "$work/said" || fail "it does not say where the archive is"
if grep -n '@[A-Z0-9]*@' "$work/one/reloader.yaml"; then fail "something is not filled in"; fi

/usr/bin/python3 - "$work/one/reloader.yaml" "$work/one/$archive" <<'TEXT' || fail "the manifest is not what krew expects"
# By the rules of krew's validation (pkg/index/validation): names, a semantic version with v, a digest of 64 hexadecimal digits, one
# selector, relative paths of files, and a program of which krew makes kubectl-reloader.
import hashlib, re, sys, tarfile, yaml
manifest = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
assert manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2" and manifest["kind"] == "Plugin", manifest
assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", manifest["metadata"]["name"]) and manifest["metadata"]["name"] == "reloader"
spec = manifest["spec"]
assert re.fullmatch(r"v\d+\.\d+\.\d+", spec["version"]), spec["version"]
assert spec["homepage"] == "https://example.com/kubexx"
assert 0 < len(spec["shortDescription"]) <= 50 and "\n" not in spec["shortDescription"] and not spec["shortDescription"].endswith(".")
assert all(len(line) <= 80 for line in spec["description"].splitlines())
platform, = spec["platforms"]
assert platform["selector"]["matchLabels"]["os"] == "linux" and platform["selector"]["matchLabels"]["arch"] in ("amd64", "arm64")
assert platform["uri"] == "https://example.com/releases/v1/" + sys.argv[2].rsplit("/", 1)[1], platform["uri"]
assert platform["sha256"] == hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
names = set(tarfile.open(sys.argv[2]).getnames())
for file in platform["files"]:
    assert file["from"] in names and not file["to"].startswith("/"), file
assert platform["bin"] == "kubectl-reloader" and platform["bin"] in names
TEXT

tar -C "$work" -xzf "$work/one/$archive"
"$work/kubectl-reloader" version | grep -q '^kubectl reloader [0-9]' || fail "the packed program does not run as a plugin"
if "$root/hack/krew" --uri nowhere --out "$work/three" 2>/dev/null; then fail "it takes any text for a URI"; fi
if "$root/hack/krew" 2>/dev/null; then fail "it needs no URI"; fi
if "$root/hack/krew" --uri "https://example.com/a b" --out "$work/three" 2>/dev/null; then fail "a URI may have spaces"; fi
echo "PASSED"
