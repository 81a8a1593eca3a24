# Builds the programs of a real Kubernetes from Go modules at pinned versions into $KUBEXX_CACHE/bin.
# About 8 minutes on 2 cores the first time; a version stamp beside each program makes the next call a no-op.
# To be sourced after common.sh and go.sh.
# shellcheck shell=bash disable=SC2154

kx_kubernetes_version=1.36.3
kx_etcd_version=3.7.3
kx_containerd_version=2.4.2
kx_runc_version=1.5.2
kx_helm_version=3.22.0
# In the order in which they are built: what `up` needs comes first.
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
  local stamp=
  [ -x "$kx_bin/$1" ] && read -r stamp 2>/dev/null <"$kx_bin/.$1.version" && [ "$stamp" = "$(component_version "$1")" ]
}

# The module that a component is built in; components of one module are built by one `go build`.
component_module() {
  case $1 in
    kube*) echo kubernetes ;;
    *) echo "$1" ;;
  esac
}

component_packages() { # component_packages NAME: its main packages
  case $1 in
    kube*) echo "k8s.io/kubernetes/cmd/$1" ;;
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    containerd) printf 'github.com/containerd/containerd/v2/%s\n' cmd/containerd cmd/containerd-shim-runc-v2 cmd/ctr ;;
    runc) echo github.com/opencontainers/runc ;;
    helm) echo helm.sh/helm/v3/cmd/helm ;;
  esac
}

# go_module NAME MODULE PACKAGE...: makes and enters a module of our own that requires MODULE. Where a main package's
# module has replace directives, `go install` refuses it, and this is the way around.
go_module() {
  local dir=$KUBEXX_CACHE/mod/$1 name=$1 module=$2 version
  shift 2
  version=$(component_version "${name/kubernetes/kube}")
  mkdir -p "$dir"
  cd "$dir" || return 1
  printf 'module kubexx.test/%s\n\ngo %s.0\n\nrequire %s v%s\n' "$name" "$kx_go_minimum" "$module" "$version" >go.mod
  {
    printf '//go:build tools\n\npackage tools\n\nimport (\n'
    printf '\t_ "%s"\n' "$@"
    printf ')\n'
  } >tools.go
}

# The module k8s.io/kubernetes names its sister modules as v0.0.0 and replaces them by paths inside its repository;
# they are published as v0.MINOR.PATCH.
replace_sisters() {
  local gomod sister
  gomod=$(go mod download -json "k8s.io/kubernetes@v$kx_kubernetes_version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
  [ -r "$gomod" ] || { echo "cannot download k8s.io/kubernetes v$kx_kubernetes_version" >&2; return 1; }
  sed -nE 's/^\s+(k8s\.io\/[a-z-]+) v0\.0\.0(\s.*)?$/\1/p' "$gomod" | sort -u | while read -r sister; do
    printf 'replace %s => %s v0.%s\n' "$sister" "$sister" "${kx_kubernetes_version#1.}"
  done >>go.mod
}

# prepare_module MODULE PACKAGE...: enters the module and sets `go_flags`.
prepare_module() {
  local version=k8s.io/component-base/version
  # Without `go mod tidy`, which would fetch what only the tests of other modules need.
  go_flags=(-mod=mod -ldflags '-s -w')
  case $1 in
    kubernetes)
      go_module "$1" k8s.io/kubernetes "${@:2}"
      replace_sisters || return 1
      go_flags=(-mod=mod -ldflags "-s -w -X $version.gitVersion=v$kx_kubernetes_version
        -X $version.gitMajor=1 -X $version.gitMinor=$(cut -d. -f2 <<<"$kx_kubernetes_version")") ;;
    etcd) go_module "$1" go.etcd.io/etcd/server/v3 "${@:2}" ;;
    containerd) go_module "$1" github.com/containerd/containerd/v2 "${@:2}" ;;
    runc)
      # Debian's runc fails on recent kernels; without the seccomp tag no pod sandbox starts.
      go_module "$1" github.com/opencontainers/runc "${@:2}"
      go_flags+=(-tags seccomp) ;;
    helm)
      go_module "$1" helm.sh/helm/v3 "${@:2}"
      export CGO_ENABLED=0 ;;
  esac
}

# Fetches the modules, and writes the packages that are not in Go's build cache to the file OUT.
list_packages() { # list_packages OUT MODULE PACKAGE...
  local out=$1
  shift
  prepare_module "$@" && go list "${go_flags[@]}" -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "${@:2}" >"$out"
}

# Go's compiler collects garbage less often than by default: memory is cheaper here than time.
compile_module() { # compile_module STAGE MODULE PACKAGE...
  local stage=$1
  shift
  prepare_module "$@" && GOGC=${GOGC:-400} go build -v "${go_flags[@]}" -o "$stage/" "${@:2}"
}

# Puts finished programs into their place. Those of Kubernetes are usable at once, while others still compile.
take_programs() { # take_programs STAGE
  local program name
  for program in "$1"/*; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    if [ "$name" = server ]; then name=etcd; fi # the last part of its path that is no version
    mv -f "$program" "$kx_bin/$name"
    case $name in kube*) stamp_component "$name" ;; esac
  done
}
stamp_component() {
  component_version "$1" >"$kx_bin/.$1.version"
  log "$1 $(component_version "$1") is ready"
}

# build_module MODULE NAME...: builds components of one module, and tells how far it is.
build_module() {
  local module=$1 what packages stage=$KUBEXX_CACHE/mod/.stage out=$KUBEXX_CACHE/logs/build-$1.log
  local started=$SECONDS next=$((SECONDS + 20)) status=0 total count name
  shift
  what="$(tr ' ' ',' <<<"$*" | sed 's/,/, /g') $(component_version "$1")"
  mapfile -t packages < <(for name; do component_packages "$name"; done)
  rm -rf "$stage"
  mkdir -p "$stage" "$KUBEXX_CACHE/mod/.tmp"
  export GOTMPDIR=$KUBEXX_CACHE/mod/.tmp # beside the stage, so that a program appears there whole
  for name; do rm -f "$kx_bin/.$name.version"; done
  long_step "fetching the sources of $what" "$out" list_packages "$stage.list" "$module" "${packages[@]}"
  total=$(wc -l <"$stage.list")
  log "building $what: $total packages to compile"
  compile_module "$stage" "$module" "${packages[@]}" >"$out" 2>&1 </dev/null &
  local job=$!
  ends_with_us "$job"
  while kill -0 "$job" 2>/dev/null; do
    take_programs "$stage"
    if [ "$SECONDS" -ge "$next" ]; then
      count=$(grep -cvE '^go: |^#' "$out" || true)
      log "building $what: $count of $total packages, $((SECONDS - started)) s"
      next=$((SECONDS + 20))
    fi
    sleep 0.3
  done
  wait "$job" || status=$?
  let_go
  if [ "$status" -ne 0 ]; then
    tail -n 40 "$out" >&2
    die "building $what failed with status $status; that was the end of $out"
  fi
  take_programs "$stage"
  for name; do component_is_built "$name" || stamp_component "$name"; done
  log "building $what: done in $((SECONDS - started)) s"
}

all_are_built() {
  local name
  for name; do component_is_built "$name" || return 1; done
}

# lock_builds NAME...: one build at a time. Returns 1 when meanwhile another has built all that is asked for.
lock_builds() {
  local next=0
  mkdir -p "$kx_bin" "$KUBEXX_CACHE/logs"
  exec 8>"$kx_bin/.lock"
  until flock -n 8; do
    if all_are_built "$@"; then return 1; fi
    if [ "$SECONDS" -ge "$next" ]; then log "waiting for another hack/cluster, which is building"; next=$((SECONDS + 60)); fi
    sleep 0.5
  done
}

# build_components [NAME...]: builds those that are missing or of another version; all by default.
build_components() {
  local name module todo=() modules=()
  [ $# -gt 0 ] || set -- "${kx_components[@]}"
  for name; do component_version "$name" >/dev/null || usage_error "unknown component '$name'; known: ${kx_components[*]}"; done
  all_are_built "$@" && return 0
  "$kx_root/hack/deps" cluster
  use_go || die "no Go $kx_go_minimum or newer"
  if lock_builds "$@"; then
    # In our order, whatever the caller's, and each module once.
    for name in "${kx_components[@]}"; do
      if [[ " $* " == *" $name "* ]] && ! component_is_built "$name"; then
        todo+=("$name")
        module=$(component_module "$name")
        [[ " ${modules[*]} " == *" $module "* ]] || modules+=("$module")
      fi
    done
    log "Kubernetes for tests is built once, all of it in about 8 minutes; to build now: ${todo[*]}"
    for module in "${modules[@]}"; do
      # shellcheck disable=SC2046 # names without spaces
      (build_module "$module" $(for name in "${todo[@]}"; do if [ "$(component_module "$name")" = "$module" ]; then echo "$name"; fi; done))
    done
  fi
  exec 8>&-
}
