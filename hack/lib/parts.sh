# Runs the parts of a job side by side: builds, and the tests of what is built. To be sourced after common.sh.
#
# A part has a log, a priority and parts that must have ended before it starts. Every part is a process group of its own, so
# that nothing of it outlives this script. What becomes of the others when a part fails depends on its kind:
#
#   build    everything ends
#   provide  it gives something that some tests need: they count as failed, and all others go on
#   tests    nothing
# shellcheck shell=bash disable=SC2154

kx_parts=() # in the order in which they were declared
kx_logs=$kx_root/build/test
kx_live=false # whether the logs are shown as they are written, which is when there is one part of tests only
declare -A kx_tail kx_kind kx_nice kx_after kx_command kx_state kx_group kx_since kx_took

# part build|provide|tests NAME NICE AFTER COMMAND...: declares a part. AFTER names others, with spaces between; those that are
# not declared are as good as done. Tests need what they come after, a build only waits for it. COMMAND may be a function.
part() {
  local name=$2
  kx_parts+=("$name")
  kx_kind[$name]=$1 kx_nice[$name]=$3 kx_after[$name]=$4 kx_state[$name]=waiting
  shift 4
  kx_command[$name]=$(printf '%q ' "$@")
}

is_part() { [ -n "${kx_kind[$1]:-}" ]; }
log_of() { echo "$kx_logs/$1.log"; }

may_start() {
  local other
  for other in ${kx_after[$1]}; do
    if is_part "$other" && [[ ${kx_state[$other]} != @(ended|failed) ]]; then return 1; fi
  done
}

# missed_by NAME: the part that these tests need and that has failed, if there is one.
missed_by() {
  local other
  [ "${kx_kind[$1]}" = tests ] || return 0
  for other in ${kx_after[$1]}; do
    if is_part "$other" && [ "${kx_state[$other]}" = failed ]; then
      echo "$other"
      return 0
    fi
  done
}

# Tests that cannot run are no tests that pass.
give_up_part() { # give_up_part NAME FAILED
  kx_state[$1]=ended kx_since[$1]=$SECONDS kx_took[$1]=0
  echo " 0/0 Test #0: $1.without_$2 ***Failed" >"$(log_of "$1")"
  log "$1: not run, as $2 has failed"
}

start_part() {
  local name=$1
  : >"$(log_of "$name")"
  : >"$kx_logs/$name.begun"
  set -m # a process group of its own
  (
    trap - ERR # a failure is told of when the part has ended
    renice -n "${kx_nice[$name]}" -p "$BASHPID" >/dev/null 2>&1 || true
    eval "${kx_command[$name]}"
  ) >"$(log_of "$name")" 2>&1 </dev/null 9>&- &
  set +m
  kx_group[$name]=$! kx_state[$name]=running kx_since[$name]=$SECONDS
  log "$name: started"
  if $kx_live; then
    tail -n +1 -f --pid="${kx_group[$name]}" "$(log_of "$name")" &
    kx_tail[$name]=$!
  fi
}

# Ends what runs, children's children included.
end_parts() {
  local name running=() round
  for name in "${kx_parts[@]}"; do
    if [ "${kx_state[$name]}" = running ]; then
      kill -TERM -- "-${kx_group[$name]}" 2>/dev/null && running+=("$name")
      kx_state[$name]=stopped
    fi
  done
  for ((round = 0; round < 100; round++)); do
    for name in "${running[@]}"; do
      if kill -0 -- "-${kx_group[$name]}" 2>/dev/null; then sleep 0.1; continue 2; fi
    done
    return 0
  done
  for name in "${running[@]}"; do kill -KILL -- "-${kx_group[$name]}" 2>/dev/null || true; done
}

# Two runs in one clone would mix up their logs, and the first to end takes the cluster of both down. Parts do not hold the lock:
# what one of them leaves behind shall keep no later run out.
lock_clone() {
  mkdir -p "$kx_logs"
  exec 9>"$kx_logs/.lock"
  flock -n 9 || die "another hack/test runs in this clone: wait for it, or use another clone"
}

# What the log of a part says about how far it is: the last line of a build, the number of the last test.
progress_of() {
  local line
  line=$(grep -aoE '\[[0-9]+/[0-9]+\]|[0-9]+ of [0-9]+ packages|^ *[0-9]+/[0-9]+ Test ' "$(progress_log "$1")" 2>/dev/null | tail -n 1) || true
  line=${line//[][]/}
  echo "${line% Test }"
}
# Until the build of this part begins, the log of the last one lies there.
progress_log() {
  local build=$kx_root/build/${1#build-}/build.log
  if [[ $1 == build-* ]] && [ "$build" -nt "$kx_logs/$1.begun" ]; then echo "$build"; else log_of "$1"; fi
}

say_progress() {
  local name words="" passed failed skipped
  for name in "${kx_parts[@]}"; do
    [ "${kx_state[$name]}" = running ] || continue
    words+="; $name $(progress_of "$name" | sed 's/^ *//')"
    if [ "${kx_kind[$name]}" = tests ]; then
      count_results "$name"
      [ "$failed" -eq 0 ] || words+=", $failed failed"
    fi
  done
  log "$((SECONDS / 60)) min${words}"
}

# results_of NAME: one line per test that ctest has run: "passed NAME", "failed NAME", "skipped NAME".
results_of() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    rest = $0; sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, "", rest); split(rest, word, " ")
    if (rest ~ / Passed +[0-9.]+ sec$/) state = "passed"
    else if (rest ~ /\*\*\*(Skipped|Not Run \(Disabled\))/) state = "skipped"
    else state = "failed"
    print state, word[1]
  }' "$(log_of "$1")" 2>/dev/null
}

# failures_of NAME: the names of the tests that failed, each with what it said that it failed of (lines with FAILED at the
# beginning, as test/e2e/lib.sh writes them); of a program of GoogleTest that ran whole, the cases that failed, and the one in
# which it ended.
failures_of() {
  awk '
  function end_of_test() {
    if (failed && running != "" && index(name, running) == 0) print "    " running " (the program ended in it)"
    running = ""
  }
  /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    end_of_test()
    failed = $0 !~ / Passed +[0-9.]+ sec$|\*\*\*(Skipped|Not Run \(Disabled\))/
    sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, ""); split($0, word, " "); name = word[1]
    if (failed) print "  " name
  }
  failed && /^FAILED: / { print "    " $0 }
  /^\[ RUN      \] / { running = $4 }
  /^\[       OK \] |^\[  SKIPPED \] .* ms\)$/ { running = "" }
  /^\[  FAILED  \] .* ms\)$/ {
    running = ""; sub(/,$/, "", $4)
    if (failed && index(name, $4) == 0) print "    " $4
  }
  END { end_of_test() }' "$(log_of "$1")" 2>/dev/null
}

# count_results NAME: sets `passed`, `failed` and `skipped`.
count_results() {
  local results
  results=$(results_of "$1")
  passed=$(grep -c '^passed' <<<"$results" || true)
  failed=$(grep -c '^failed' <<<"$results" || true)
  skipped=$(grep -c '^skipped' <<<"$results" || true)
}

# skipped_cases NAME: the cases that programs of GoogleTest skipped which ran whole, and so passed as far as ctest knows.
skipped_cases() {
  [ -z "${KUBEXX_WHOLE_PROGRAMS:-}" ] ||
    sed -n 's/^\[  SKIPPED \] \([^ ]*\.[^ ]*\)$/  \1/p' "$kx_logs/$1/Testing/Temporary/LastTest.log" 2>/dev/null
}

# part_ended NAME STATUS: tells what became of it, with the output of what failed.
part_ended() {
  local name=$1 status=$2 passed failed skipped
  if $kx_live; then wait "${kx_tail[$name]}" || true; fi
  kx_state[$name]=ended kx_took[$name]=$((SECONDS - kx_since[$name]))
  if [ "${kx_kind[$name]}" != tests ]; then
    [ "$status" -ne 0 ] || { log "$name: done in ${kx_took[$name]} s"; return 0; }
    log "$name: failed"
    $kx_live || tail -n 60 "$(log_of "$name")" >&2
    if [ "${kx_kind[$name]}" = provide ]; then
      kx_state[$name]=failed
      return 0
    fi
    end_parts
    die "$name failed after $SECONDS s, so the rest was given up"
  fi
  count_results "$name"
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then echo " 0/0 Test #0: $name.ctest_status_$status ***Failed" >>"$(log_of "$name")"; fi
  log "$name: $passed passed, $failed failed, $skipped skipped, in ${kx_took[$name]} s"
  if [ "$status" -ne 0 ] && ! $kx_live; then
    # Without the lines of tests that only began, or passed.
    grep -avE '^ +Start +[0-9]+: | Test +#[0-9]+: .* Passed +[0-9.]+ sec$' "$(log_of "$name")" >&2 || true
  fi
}

# run_parts: runs all that were declared. Returns when each has ended, whatever the tests' results.
run_parts() {
  local name missed status next=$((SECONDS + 30)) left=true
  mkdir -p "$kx_logs"
  rm -f "$kx_logs"/*.log
  [ "$(printf '%s\n' "${kx_kind[@]}" | grep -cx tests)" -gt 1 ] || kx_live=true
  while $left; do
    left=false
    for name in "${kx_parts[@]}"; do
      if [ "${kx_state[$name]}" = waiting ] && may_start "$name"; then
        missed=$(missed_by "$name")
        if [ -n "$missed" ]; then give_up_part "$name" "$missed"; else start_part "$name"; fi
      fi
      if [ "${kx_state[$name]}" = running ] && ! kill -0 "${kx_group[$name]}" 2>/dev/null; then
        status=0
        wait "${kx_group[$name]}" || status=$?
        part_ended "$name" "$status"
      fi
      [[ ${kx_state[$name]} == @(ended|failed) ]] || left=true
    done
    if [ "$SECONDS" -ge "$next" ] && ! $kx_live; then
      say_progress
      next=$((SECONDS + 30))
    fi
    sleep 0.3
  done
}

# slowest_tests N: the N tests of the last run that took longest, with their part, from the logs that lie there.
slowest_tests() {
  local log
  for log in "$kx_logs"/*.log; do
    [ -f "$log" ] || continue
    awk -v part="$(basename "$log" .log)" '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: .* [0-9.]+ sec$/ {
      took = $(NF - 1); sub(/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /, ""); split($0, word, " ")
      printf "%9.1f s  %-14s %s\n", took, part, word[1]
    }' "$log"
  done | sort -rn | sed -n "1,$1p"
}

# summarise: how long each part took, the names of failed tests with their reasons, and last one line with the number of
# tests. Returns 1 when a test failed or there was none.
summarise() {
  local name passed failed skipped all_passed=0 all_failed=0 all_skipped=0 names="" cases=""
  for name in "${kx_parts[@]}"; do
    log "$(printf '%-16s %5s s, from %s to %s s' "$name" "${kx_took[$name]}" "${kx_since[$name]}" "$((kx_since[$name] + kx_took[$name]))")"
    if [ "${kx_kind[$name]}" = tests ]; then
      count_results "$name"
      all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed)) all_skipped=$((all_skipped + skipped))
      names+=$(failures_of "$name")$'\n'
      cases+=$(skipped_cases "$name")$'\n'
    fi
  done
  [ $((all_passed + all_failed + all_skipped)) -gt 0 ] || { log "no test was found"; return 1; }
  if cases=$(grep . <<<"$cases"); then printf 'Cases that programs of many cases have skipped:\n%s\n' "$(sort -u <<<"$cases")"; fi
  [ "$all_failed" -eq 0 ] || printf 'Failed tests:\n%s\n' "$(grep . <<<"$names")"
  printf '%s passed, %s failed, %s skipped\n' "$all_passed" "$all_failed" "$all_skipped"
  [ "$all_failed" -eq 0 ]
}
