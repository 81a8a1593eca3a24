# controller-runtime's own suites, through envtest. To be sourced by hack/suites.
# shellcheck shell=bash disable=SC2154,SC2034

cr_version=v0.25.2
cr_module=sigs.k8s.io/controller-runtime
cr_source=$KUBEXX_CACHE/suites/controller-runtime-$cr_version
cr_binaries=$cr_source/.tests

# A copy of the module: Go's cache of modules cannot be written to, and some suites write beside their sources.
cr_fetch() {
  local directory
  [ ! -e "$cr_source/go.mod" ] || return 0
  directory=$(cd "${TMPDIR:-/tmp}" && go mod download -json "$cr_module@$cr_version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  [ -d "$directory" ] || die "cannot download $cr_module@$cr_version"
  mkdir -p "$(dirname "$cr_source")"
  rm -rf "$cr_source.new"
  cp -r "$directory" "$cr_source.new"
  chmod -R u+w "$cr_source.new"
  # A module has no modes of files, and these are run.
  find "$cr_source.new" -path "*/testdata/*.sh" -exec chmod +x {} +
  mv "$cr_source.new" "$cr_source"
}
cr_binary() { echo "$cr_binaries/${1//\//_}.test"; }
cr_build() {
  local package
  mkdir -p "$cr_binaries"
  for package in "${packages[@]}"; do
    [ -e "$(cr_binary "$package")" ] || go test -C "$cr_source" -vet=off -c -o "$(cr_binary "$package")" "./$package"
    echo "$package"
  done
}

# cr_run NAME ASSETS PACKAGE: adds a line to $out/NAME.results: package, passed, failed, skipped, seconds.
cr_run() {
  local name=$1 package=$3 began=$EPOCHREALTIME log=$out/$1-${3//\//_}.log
  (cd "$cr_source/$package" && KUBEBUILDER_ASSETS=$2 timeout -k 10 1200 "$(cr_binary "$package")" -test.v -test.timeout 20m \
    -test.skip '.*/aggregatedDiscovery=false') >"$log" 2>&1 </dev/null || true
  # Some suites leave their servers behind.
  pgrep -f "^$2/(etcd|kube-apiserver) " | xargs -r kill 2>/dev/null || true
  printf '%s %s %s\n' "$package" "$(cr_count "$log")" "$(awk "BEGIN { print $EPOCHREALTIME - $began }")" >>"$out/$name.results"
  log "$name: $(tail -n 1 "$out/$name.results")"
}
# cr_count LOG: passed, failed, skipped: specs of Ginkgo, and tests of Go without subtests. A suite that was broken off has failed
# once.
cr_count() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /^(SUCCESS|FAIL)!.* -- [0-9]+ Passed \| / { match($0, /-- .*/); split(substr($0, RSTART + 3), n, " ")
      passed += n[1]; failed += n[4]; skipped += n[7] + n[10]; suites++ }
    /^Running Suite: / { begun++ }
    /^--- PASS: / { good++ } /^--- FAIL: / { bad++ } /^--- SKIP: / { skipped++ } /^panic: |^fatal error: /{ broken = 1 } /no tests to run/ { none = 1 }
    END { if (begun > suites) failed++
      # The tests that run a suite are not counted besides.
      plain = good + bad - begun; if (plain > 0) { if (bad > 0 && failed == 0) { failed += bad; plain -= bad }; passed += plain }
      if (passed + failed + skipped + none == 0 || (broken && failed == 0)) failed++
      print passed + 0, failed + 0, skipped + 0 }'
}
cr_table() {
  local name=$1
  printf '| package, on %s | passed | failed | skipped | seconds |\n|---|---|---|---|---|\n' "$name"
  awk -v name="$name" '{ passed += $2; failed += $3; skipped += $4; took += $5
    printf "| %s | %d | %d | %d | %.1f |\n", $1, $2, $3, $4, $5 }
    END { printf "| all, %s | %d | %d | %d | %.1f |\n\n", name, passed, failed, skipped, took }' "$out/$name.results"
}

# Writes the section $out/controller-runtime.md, and sets `failed` when a spec failed on kubexx-apiserver.
suite_controller_runtime() {
  local package name ours names=(kubexx-apiserver)
  cr_fetch
  if [ ${#packages[@]} -eq 0 ]; then
    mapfile -t packages < <(cd "$cr_source" && find pkg -name '*_test.go' -not -path '*/testdata/*' -printf '%h\n' | sort -u)
    $all || mapfile -t packages < <(printf '%s\n' "${packages[@]}" | grep -vx pkg/manager)
  fi
  long_step "building controller-runtime's suites" "$KUBEXX_CACHE/logs/suites.log" cr_build
  ours=$("$here/envtest-assets" --kubectl "$kx_bin/kubectl" "$out/assets")
  if $real; then
    names=(kube-apiserver kubexx-apiserver)
    mkdir -p "$out/real"
    for name in kube-apiserver etcd kubectl; do ln -sfn "$kx_bin/$name" "$out/real/$name"; done
  fi
  for name in "${names[@]}"; do : >"$out/$name.results"; done
  # One after the other, package by package: what else the machine does concerns both.
  for package in "${packages[@]}"; do
    ! $real || cr_run kube-apiserver "$out/real" "$package"
    cr_run kubexx-apiserver "$ours" "$package"
  done
  {
    section_head "controller-runtime" "Version $cr_version. What is counted are specs of Ginkgo, and the tests of Go beside them. Left out are two Go tests that
download Kubernetes 1.28."
    for name in "${names[@]}"; do cr_table "$name"; done
    if $real; then
      awk '{ sum[FILENAME] += $5 } END { for (f in sum) t[f ~ /kubexx/ ? "ours" : "real"] = sum[f]
        printf "kubexx-apiserver takes %.2f of kube-apiserver'\''s time.\n", t["ours"] / t["real"] }' "$out/kubexx-apiserver.results" "$out/kube-apiserver.results"
    fi
  } >"$out/controller-runtime.md"
  if awk '$3 > 0 { found = 1 } END { exit !found }' "$out/kubexx-apiserver.results"; then failed=1; fi
}
