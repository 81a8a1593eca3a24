# kube-rs' own tests that are ignored unless there is a cluster. To be sourced by hack/suites.
# shellcheck shell=bash disable=SC2154,SC2034

kr_version=5.0.0
kr_crates=(kube kube-client kube-runtime)
# The features that the ignored tests are compiled with.
kr_features=kube/derive,kube/runtime,kube/ws,kube-client/ws,kube-client/rustls-tls,kube-client/jsonpatch,kube-client/unstable-client
kr_source=$KUBEXX_CACHE/suites/kube-rs-$kr_version
kr_folder=$kx_root/test/suites/kube-rs

# Copies of the crates, side by side in a workspace: as dependencies their tests would not be built. Cargo.lock there has the
# versions of everything else. The sources stay as they are published.
kr_fetch() {
  local new=$kr_source.new crate directory
  [ ! -e "$kr_source/Cargo.toml" ] || return 0
  rm -rf "$new"
  mkdir -p "$new/fetch"
  {
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\n'
    printf "%s = \"=$kr_version\"\n" "${kr_crates[@]}"
  } >"$new/fetch/Cargo.toml"
  : >"$new/fetch/lib.rs"
  cargo metadata --format-version 1 --manifest-path "$new/fetch/Cargo.toml" >"$new/fetch/metadata.json"
  for crate in "${kr_crates[@]}"; do
    directory=$(/usr/bin/python3 "$here/suites.d/report.py" crate "$new/fetch/metadata.json" "$crate")
    cp -r "$directory" "$new/$crate"
    rm -f "$new/$crate/Cargo.lock"
  done
  # Their tests use the crate kube, too; a dependency that is a path only is left out when a crate is published.
  for crate in kube-client kube-runtime; do
    printf '\n[dev-dependencies.kube]\npath = "../kube"\nfeatures = ["derive", "client", "runtime", "ws"]\n' >>"$new/$crate/Cargo.toml"
  done
  cp "$kr_folder/Cargo.toml" "$kr_folder/Cargo.lock" "$new/"
  rm -rf "$new/fetch"
  rm -rf "$kr_source"
  mv "$new" "$kr_source"
}
# Writes $kr_source/programs: a line for each crate: its name and its program of tests.
kr_build() {
  kr_fetch
  cargo test --locked --no-run --lib --manifest-path "$kr_source/Cargo.toml" --workspace --features "$kr_features" --message-format json |
    /usr/bin/python3 "$here/suites.d/report.py" programs >"$kr_source/programs.new"
  [ "$(wc -l <"$kr_source/programs.new")" = ${#kr_crates[@]} ] || die "not every crate of kube-rs has a program of tests"
  mv "$kr_source/programs.new" "$kr_source/programs"
}

# kr_run NAME: writes $out/kube-rs-NAME.tsv: state, seconds, name. Each test runs by itself: they share objects.
kr_run() {
  local name=$1 crate program test state began log=$out/kube-rs-$1.log skipped
  skipped=$(sed -nE '/^#/!s/  .*//p' "$kr_folder/skipped.txt" | paste -sd'|')
  : >"$log"
  : >"$out/kube-rs-$name.tsv"
  while read -r crate program; do
    while read -r test; do
      ! [[ "$crate $test" =~ ^($skipped)$ ]] || continue
      [ -z "$spec" ] || [[ "$crate $test" =~ $spec ]] || continue
      began=$EPOCHREALTIME state=passed
      printf '\n== %s %s\n' "$crate" "$test" >>"$log"
      (cd "$kr_source/$crate" && RUST_BACKTRACE=1 timeout -k 10 120 "$program" --ignored --exact "$test" --nocapture) >>"$log" 2>&1 </dev/null || state=failed
      printf '%s\t%.1f\t%s %s\n' "$state" "$(awk "BEGIN { print $EPOCHREALTIME - $began }")" "$crate" "$test" >>"$out/kube-rs-$name.tsv"
    done < <("$program" --ignored --list --format terse </dev/null | sed -n 's/: test$//p')
  done <"$kr_source/programs"
  log "$name: $(cut -f1 "$out/kube-rs-$name.tsv" | sort | uniq -c | tr '\n' ' ')"
}

# Writes the section $out/kube-rs.md, and sets `failed` when a test failed on kubexx-apiserver only.
suite_kube_rs() {
  if ! command -v cargo >/dev/null; then
    log "no cargo here: kube-rs is left out (install Rust 1.89 or newer to have it)"
    return 0
  fi
  [ -e "$kr_source/programs" ] || long_step "building kube-rs' tests" "$KUBEXX_CACHE/logs/suites-kube-rs.log" kr_build
  ! $real || on_server kube-apiserver kr_run kube-apiserver
  on_server kubexx-apiserver kr_run kubexx-apiserver
  write_section kube-rs "Version $kr_version: the tests of the crates ${kr_crates[*]} that are ignored unless there is a cluster. kubexx-apiserver
runs with its controllers; kube-apiserver with kube-controller-manager and kube-scheduler, and no kubelet." "$out/kube-rs" "$kr_folder/skipped.txt"
}
