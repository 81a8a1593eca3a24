# Builds the programs of a real Kubernetes from Go modules at pinned versions into $KUBEXX_CACHE/bin.
# About 8 minutes on 2 cores the first time; a version stamp beside each program makes the next call a no-op.
# To be sourced after common.sh and go.sh.
# shellcheck shell=bash disable=SC2154

kx_kubernetes_version=1.36.3
kx_etcd_version=3.7.3
kx_containerd_version=2.4.2
kx_runc_version=1.5.2
kx_helm_version=3.22.0
kx_control_plane=(etcd kube-apiserver kubectl kube-controller-manager kube-scheduler)
kx_components=("${kx_control_plane[@]}" kubelet containerd runc helm)

component_version() { # component_version NAME
  case $1 in
    kube*) echo "$kx_kubernetes_version" ;;
    etcd) echo "$kx_etcd_version" ;;
    containerd) echo "$kx_containerd_version" ;;
    runc) echo "$kx_runc_version" ;;
    helm) echo "$kx_helm_version" ;;
    *) return 1 ;;
  esac
}

component_is_built() { # component_is_built NAME
  [ -x "$kx_bin/$1" ] && [ "$(cat "$kx_bin/.$1.version" 2>/dev/null)" = "$(component_version "$1")" ]
}

# go_module NAME MODULE VERSION PACKAGE...: makes and enters a module of our own that requires MODULE. Where a main
# package's module has replace directives, `go install` refuses it, and this is the way around.
go_module() {
  local dir=$KUBEXX_CACHE/mod/$1 module=$2 version=$3
  shift 3
  mkdir -p "$dir"
  cd "$dir" || return 1
  printf 'module kubexx.test/%s\n\ngo %s.0\n\nrequire %s v%s\n' "$(basename "$dir")" "$kx_go_minimum" "$module" "$version" >go.mod
  {
    printf '//go:build tools\n\npackage tools\n\nimport (\n'
    printf '\t_ "%s"\n' "$@"
    printf ')\n'
  } >tools.go
}

# The module k8s.io/kubernetes names its sister modules as v0.0.0 and replaces them by paths inside its repository;
# they are published as v0.MINOR.PATCH.
kubernetes_module() {
  local gomod sister
  go_module kubernetes k8s.io/kubernetes "$kx_kubernetes_version" \
    k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubectl,kubelet}
  gomod=$(go mod download -json "k8s.io/kubernetes@v$kx_kubernetes_version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
  [ -r "$gomod" ] || { echo "cannot download k8s.io/kubernetes v$kx_kubernetes_version" >&2; return 1; }
  sed -nE 's/^\s+(k8s\.io\/[a-z-]+) v0\.0\.0(\s.*)?$/\1/p' "$gomod" | sort -u | while read -r sister; do
    printf 'replace %s => %s v0.%s\n' "$sister" "$sister" "${kx_kubernetes_version#1.}"
  done >>go.mod
  go mod tidy -e
}

build_kubernetes() { # build_kubernetes NAME
  local version=k8s.io/component-base/version minor
  kubernetes_module || return 1
  minor=$(cut -d. -f2 <<<"$kx_kubernetes_version")
  go build -o "$kx_bin/" -ldflags \
    "-s -w -X $version.gitVersion=v$kx_kubernetes_version -X $version.gitMajor=1 -X $version.gitMinor=$minor" \
    "k8s.io/kubernetes/cmd/$1"
}

build_etcd() {
  go_module etcd go.etcd.io/etcd/server/v3 "$kx_etcd_version" go.etcd.io/etcd/server/v3
  go mod tidy -e
  go build -ldflags '-s -w' -o "$kx_bin/etcd" go.etcd.io/etcd/server/v3
}

build_containerd() {
  local commands=github.com/containerd/containerd/v2/cmd
  GOBIN=$kx_bin go install -ldflags '-s -w' \
    "$commands"/{containerd,containerd-shim-runc-v2,ctr}@v"$kx_containerd_version"
}

# Debian's runc fails on recent kernels; without the seccomp tag no pod sandbox starts.
build_runc() {
  GOBIN=$kx_bin go install -tags seccomp "github.com/opencontainers/runc@v$kx_runc_version"
}

build_helm() {
  CGO_ENABLED=0 GOBIN=$kx_bin go install -ldflags '-s -w' "helm.sh/helm/v3/cmd/helm@v$kx_helm_version"
}

build_component() {
  case $1 in
    kube*) build_kubernetes "$1" ;;
    *) "build_$1" ;;
  esac
}

# build_components [NAME...]: builds those that are missing or of another version; all by default.
build_components() {
  local name todo=() number=0
  [ $# -gt 0 ] || set -- "${kx_components[@]}"
  for name in "$@"; do
    component_version "$name" >/dev/null || usage_error "unknown component '$name'; known: ${kx_components[*]}"
    component_is_built "$name" || todo+=("$name")
  done
  [ ${#todo[@]} -gt 0 ] || return 0
  "$kx_root/hack/deps" cluster
  use_go || die "no Go $kx_go_minimum or newer"
  mkdir -p "$kx_bin" "$KUBEXX_CACHE/logs"
  exec 8>"$kx_bin/.lock"
  flock 8 # another checkout may be building the same things
  log "Kubernetes $kx_kubernetes_version for tests is built once, about 8 minutes in all; to build: ${todo[*]}"
  for name in "${todo[@]}"; do
    number=$((number + 1))
    component_is_built "$name" && continue
    rm -f "$kx_bin/.$name.version"
    long_step "building $name $(component_version "$name") ($number of ${#todo[@]})" \
      "$KUBEXX_CACHE/logs/build-$name.log" build_component "$name"
    component_version "$name" >"$kx_bin/.$name.version"
  done
  exec 8>&-
}
