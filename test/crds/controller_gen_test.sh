#!/usr/bin/env bash
# test/crds/controller_gen_test.sh [--update]: whether controller_gen.yaml is what controller-gen writes for the types in controller_gen/.
# CI compares what kubexx-codegen writes with that file (gadget_test.cc). It is run by hand, because building controller-gen takes minutes:
# after a change of the types or of controller-gen's version in go.mod, first with --update, which writes the file.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
# shellcheck source=../../hack/lib/go.sh
. "$root/hack/lib/go.sh"
wants_help "$@" && { show_help "$0"; exit 0; }
[ $# = 0 ] || { [ $# = 1 ] && [ "$1" = --update ]; } || usage_error "takes --update and nothing else"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
install_go
mkdir -p "$KUBEXX_CACHE/logs"
cd "$root/test/crds/controller_gen"
long_step "building controller-gen" "$KUBEXX_CACHE/logs/controller-gen.log" \
  env GOMODCACHE="$KUBEXX_CACHE/mod" go build -o "$work/controller-gen" sigs.k8s.io/controller-tools/cmd/controller-gen
GOMODCACHE="$KUBEXX_CACHE/mod" "$work/controller-gen" crd:allowDangerousTypes=true paths=./... output:crd:dir="$work/crds"
/usr/bin/python3 ../without_upstream_text.py <"$work/crds/test.example.com_gadgets.yaml" >"$work/gadgets.yaml"
if [ "${1:-}" = --update ]; then
  cp "$work/gadgets.yaml" ../controller_gen.yaml
elif ! diff -u ../controller_gen.yaml "$work/gadgets.yaml"; then
  die "controller_gen.yaml is not what controller-gen writes; run this with --update"
fi
echo "controller-gen writes controller_gen.yaml"
