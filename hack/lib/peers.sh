# Builds the programs of test/bench, which are of other people's libraries: client-go, kube-rs. To be sourced after go.sh.
# shellcheck shell=bash disable=SC2154

peers=$KUBEXX_CACHE/bench/bin

# one_at_a_time COMMAND...: nobody else builds these programs meanwhile.
one_at_a_time() {
  mkdir -p "$peers"
  (
    flock 9
    "$@" 9>&-
  ) 9>"$peers/.lock"
}

# build_go_peers PROGRAM...: from the Go module proxy, in the versions of test/bench/go.mod.
build_go_peers() {
  use_go || die "no Go $kx_go_minimum"
  one_at_a_time long_step "building the Go programs $*" "$KUBEXX_CACHE/logs/bench-go.log" \
    go build -C "$kx_root/test/bench" -o "$peers/" "${@/#/./}"
}

# build_kube_rs_peer release|dev: from crates.io, in the versions of its Cargo.lock; `dev`, for tests, is built in a third of the time
# and is $peers/kubers-dev. Returns 1 where there is no cargo.
build_kube_rs_peer() {
  if ! command -v cargo >/dev/null; then
    log "no cargo here: kube-rs is left out (install Rust 1.89 or newer to have it)"
    return 1
  fi
  one_at_a_time long_step "building the program with kube-rs" "$KUBEXX_CACHE/logs/bench-rust.log" \
    env CARGO_TARGET_DIR="$KUBEXX_CACHE/bench/kubers" CARGO_PROFILE_DEV_DEBUG=false \
    cargo build --locked --profile "$1" --manifest-path "$kx_root/test/bench/kubers/Cargo.toml" ||
    die "the program with kube-rs cannot be built"
  if [ "$1" = dev ]; then
    cp "$KUBEXX_CACHE/bench/kubers/debug/kubers-bench" "$peers/kubers-dev"
  else
    cp "$KUBEXX_CACHE/bench/kubers/release/kubers-bench" "$peers/"
  fi
}
