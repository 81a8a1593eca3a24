# Kubernetes' e2e specs of the API machinery. To be sourced by hack/suites, after cluster_build.sh.
# shellcheck shell=bash disable=SC2154

ks_program=$KUBEXX_CACHE/suites/kubernetes-$kx_kubernetes_version.test
ks_folder=$kx_root/test/suites/kubernetes

# In a module of its own, which has the versions of hack/cluster; the specs come from it.
ks_build() {
  (
    go_module kubernetes-e2e k8s.io/kubernetes k8s.io/kubernetes/test/e2e/apimachinery
    replace_sisters
    cp "$ks_folder/suite_test.go" .
    mkdir -p "$(dirname "$ks_program")"
    go test -mod=mod -vet=off -c -p 2 -ldflags '-s -w' -o "$ks_program.new" .
    mv "$ks_program.new" "$ks_program"
  )
}

# ks_run NAME: writes $out/kubernetes-NAME.tsv: state, seconds, name.
ks_run() {
  local name=$1 skipped report=$out/kubernetes-$1.json
  skipped=$(sed -nE '/^#/!s/  .*//p' "$ks_folder/skipped.txt" | paste -sd'|')
  if [ "$name" = kube-apiserver ]; then ks_fake_node; fi
  mkdir -p "$out/e2e"
  rm -f "$report"
  # What the package imports brings specs of other groups along, most of which wait for pods to run.
  "$ks_program" --kubeconfig "$KUBECONFIG" --kubectl-path "$kx_bin/kubectl" --provider skeleton --e2e-output-dir "$out/e2e" \
    --ginkgo.skip "$skipped" --ginkgo.focus "\\[sig-api-machinery\\].*($spec)" --ginkgo.timeout 60m --ginkgo.no-color --ginkgo.json-report "$report" \
    >"$out/kubernetes-$name.log" 2>&1 </dev/null || true
  [ -s "$report" ] || { tail -n 20 "$out/kubernetes-$name.log" >&2; die "the specs wrote no report on $name"; }
  /usr/bin/python3 "$here/suites.d/report.py" ginkgo "$report" >"$out/kubernetes-$name.tsv"
  log "$name: $(cut -f1 "$out/kubernetes-$name.tsv" | sort | uniq -c | tr '\n' ' ')"
}
# Some specs want a Node to be there. Nothing is scheduled to this one.
ks_fake_node() {
  "$kx_bin/kubectl" --kubeconfig "$KUBECONFIG" create -f - >&2 <<Y
apiVersion: v1
kind: Node
metadata: {name: nowhere}
spec: {unschedulable: true, taints: [{key: kubexx.example/nowhere, effect: NoSchedule}]}
Y
}

# Writes the section $out/kubernetes.md, and sets `failed` when a spec failed on kubexx-apiserver only.
suite_kubernetes() {
  if [ ! -x "$ks_program" ] || [ "$ks_folder/suite_test.go" -nt "$ks_program" ]; then
    long_step "building Kubernetes' e2e specs" "$KUBEXX_CACHE/logs/suites-kubernetes.log" ks_build
  fi
  ! $real || on_server kube-apiserver ks_run kube-apiserver
  on_server kubexx-apiserver ks_run kubexx-apiserver
  write_section kubernetes "Version $kx_kubernetes_version: the specs of [sig-api-machinery]. kubexx-apiserver runs with its controllers; kube-apiserver with
kube-controller-manager and kube-scheduler, no kubelet, and a Node that nothing is scheduled to." "$out/kubernetes" "$ks_folder/skipped.txt"
}
