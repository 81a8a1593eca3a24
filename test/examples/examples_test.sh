#!/usr/bin/env bash
# Installs the library in a folder of its own, builds examples/ against that as a stranger would, and runs them in a cluster. The code
# of docs/library/ is compiled against it, too.
# Environment: KUBEXX_BUILD_DIR, KUBEXX_TEST_KUBECONFIG, KUBEXX_CACHE (kubectl is in its bin).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${KUBEXX_BUILD_DIR:?}" "${KUBEXX_TEST_KUBECONFIG:?}" "${KUBEXX_CACHE:?}"
export KUBECONFIG=$KUBEXX_TEST_KUBECONFIG PATH=$KUBEXX_CACHE/bin:$PATH
# Always the same folder, emptied: the compiler cache knows what it has seen there.
work=$KUBEXX_BUILD_DIR/test/examples
rm -rf "$work"
mkdir -p "$work"
namespace_=examples-$$
informer=
controller=
finish() {
  local status=$?
  [ -z "$informer" ] || kill "$informer" 2>/dev/null || true
  [ -z "$controller" ] || kill "$controller" 2>/dev/null || true
  kubectl delete crd websites.example.com backups.example.com --wait=false >/dev/null 2>&1 || true
  kubectl delete namespace "$namespace_" --wait=false >/dev/null 2>&1 || true
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT
fail() { echo "examples: $*" >&2; exit 1; }

# As in hack/lib/common.sh: how many times longer to wait on a machine that does much else.
patience=${KUBEXX_PATIENCE:-1}
# wait_for SECONDS PATTERN FILE
wait_for() {
  local end=$((SECONDS + $1 * patience))
  until grep -qE "$2" "$3"; do
    [ "$SECONDS" -lt "$end" ] || { cat "$3" >&2; fail "no line like '$2' in $1 s"; }
    sleep 0.1
  done
}

cmake --install "$KUBEXX_BUILD_DIR" --component development --prefix "$work/prefix" >"$work/install.log"
cmake -S "$root/examples" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$work/configure.log" ||
  { cat "$work/configure.log"; fail "configuring failed"; }
# The tests of clusters that run beside this one are slowed by compilers more than these by them.
nice -n 10 cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; fail "building failed"; }

# The code of the pages about the library, against the same installation. Optimised, as some of g++'s warnings need that.
"$root/test/guide/samples.sh" "$work/samples"
cmake -S "$work/samples" -B "$work/samples/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$work/configure.log" || { cat "$work/configure.log"; fail "configuring the pages' code failed"; }
nice -n 10 cmake --build "$work/samples/build" >"$work/build.log" || { cat "$work/build.log"; fail "the code of a page in docs/library does not compile"; }

kubectl create namespace "$namespace_" >/dev/null
# No controller makes it here.
kubectl -n "$namespace_" create serviceaccount default >/dev/null
kubectl -n "$namespace_" run one --image=none --labels=app=one --restart=Never >/dev/null

"$work/build/pod-lister" --namespace "$namespace_" --selector app=one >"$work/lister.log"
grep -qE "^$namespace_/one	Pending	$" "$work/lister.log" || { cat "$work/lister.log"; fail "pod-lister does not show the pod"; }
grep -qE '^1 pods at resource version [0-9]+$' "$work/lister.log" || fail "pod-lister does not count"

"$work/build/pod-informer" --namespace "$namespace_" >"$work/informer.log" 2>&1 &
informer=$!
wait_for 20 "^present	$namespace_/one	Pending$" "$work/informer.log"
kubectl -n "$namespace_" run two --image=none --restart=Never >/dev/null
wait_for 20 "^added	$namespace_/two	Pending$" "$work/informer.log"
kubectl -n "$namespace_" delete pod one --force --grace-period=0 >/dev/null 2>&1
wait_for 20 "^deleted	$namespace_/one" "$work/informer.log"
kill -TERM "$informer"
wait "$informer" || fail "pod-informer ended with status $?"
informer=
grep -qE '^1 pods in [0-9]+ bytes$' "$work/informer.log" || fail "pod-informer does not count"
# Without the checkout and without Go: the program is installed with the library.
(cd / && PATH=/usr/bin:/bin "$work/prefix/bin/kubexx-codegen" --out "$work/generated" "$root/examples/website-controller/website.yaml" >"$work/codegen.log" 2>&1) ||
  { cat "$work/codegen.log"; fail "kubexx-codegen failed"; }
for file in website_v1.gen.h website_v1.gen.cc; do
  diff -u "$root/examples/website-controller/$file" "$work/generated/$file" || fail "$file is out of date"
done
# established RESOURCE: also known to those who ask what the server has, which is a moment later.
established() {
  local end
  kubectl wait --for=condition=Established "crd/$1" --timeout="$((20 * patience))s" >/dev/null
  end=$((SECONDS + 30 * patience))
  until kubectl get "$1" -A >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "the server does not serve $1"
    sleep 0.1
  done
}
# The definition that a page's header became.
kubectl apply -f "$work/samples/example.com_backups.yaml" >/dev/null
established backups.example.com
backup() { # backup KEEP TARGET: what the server makes of it
  kubectl create -n "$namespace_" --dry-run=server -o 'jsonpath={.spec.keep} {.spec.compression}' -f - 2>&1 <<BACKUP
{"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "home"}, "spec": {"keep": $1, "targets": [{"url": "$2"}]}}
BACKUP
}
[ "$(backup 2 s3://there)" = "2 zstd" ] || fail "the server does not take a Backup: $(backup 2 s3://there)"
[[ $(backup 1 s3://there) == *"one copy is none"* ]] || fail "the server does not obey the rule of BackupSpec"
[[ $(backup 2 http://there) == *"should match"* ]] || fail "the server does not obey the pattern of BackupTarget"
kubectl apply -f "$root/examples/website-controller/website.yaml" >/dev/null
established websites.example.com
"$work/build/website-controller" --http-address 127.0.0.1:0 --leader-elect >"$work/controller.log" 2>&1 &
controller=$!
kubectl apply -n "$namespace_" -f - >/dev/null <<'SITE'
apiVersion: example.com/v1
kind: Website
metadata: {name: home}
spec: {html: "<p>hello</p>", replicas: 2}
SITE
wait_until() {
  kubectl wait -n "$namespace_" "$1" --for="$2" --timeout="$((30 * patience))s" >/dev/null || { cat "$work/controller.log" >&2; fail "$1: not $2"; }
}
wait_until website/home 'jsonpath={.status.observedGeneration}=1'
wait_until configmap/home 'jsonpath={.data.index\.html}=<p>hello</p>'
wait_until deployment/home 'jsonpath={.spec.replicas}=2'
kubectl -n "$namespace_" patch website home --type=merge -p '{"spec":{"html":"<p>bye</p>","replicas":0}}' >/dev/null
wait_until website/home 'jsonpath={.status.observedGeneration}=2'
wait_until configmap/home 'jsonpath={.data.index\.html}=<p>bye</p>'
wait_until deployment/home 'jsonpath={.spec.replicas}=0'
version=$(kubectl -n "$namespace_" get deployment home -o 'jsonpath={.metadata.resourceVersion}')
kubectl -n "$namespace_" delete configmap home >/dev/null
wait_until configmap/home create
[ "$version" = "$(kubectl -n "$namespace_" get deployment home -o 'jsonpath={.metadata.resourceVersion}')" ] ||
  fail "website-controller writes a Deployment that nobody has changed"
kill -TERM "$controller"
wait "$controller" || fail "website-controller ended with status $?"
controller=
echo "examples: all as they should be"
