# Measures times, and judges them by a reference that is measured before and after them: machines differ, and one machine from hour
# to hour. To be sourced after common.sh.
#
# Measures come in blocks: begin_measures, then for each block some `measure` and `note`, and end_block. A block is judged with the
# mean of the references before and after it; where these differ by more than 5 %, the machine has become another one meanwhile, and
# nothing can be said. All times are in tenths of a second.
# shellcheck shell=bash disable=SC2154

kx_reference_asked=55 # what the reference takes on the machine for which the limits were set
kx_tolerance=5        # per cent
kx_missed=() kx_not_comparable=()
kx_rows=()
declare -A kx_clock kx_processor kx_which kx_limit kx_earlier kx_normal

# measure COMMAND...: sets `clock` and `processor`. Its output is in $kx_measure_log; a command that fails ends the script.
measure() {
  measure_any "$@"
  [ "$measured_status" -eq 0 ] || { tail -n 40 "$kx_measure_log" >&2; die "failed: $*"; }
}
# The same for a command that may fail: its status is in `measured_status`.
measure_any() {
  local TIMEFORMAT='%R %U %S' times
  measured_status=0
  times=$({ time "$@" >"$kx_measure_log" 2>&1; } 2>&1) || measured_status=$?
  read -r clock processor <<<"$(awk '{ printf "%d %d\n", $1 * 10 + 0.5, ($2 + $3) * 10 + 0.5 }' <<<"$(tail -n 1 <<<"$times")")"
}

# note NAME clock|processor LIMIT [EARLIER]: keeps what was measured last, and which of its times is to be at most LIMIT seconds;
# 0: nothing is asked. With EARLIER, a row before it, the two together are meant, each as its own block makes it.
note() {
  kx_rows+=("$1")
  kx_clock[$1]=$clock kx_processor[$1]=$processor kx_which[$1]=$2 kx_limit[$1]=$3 kx_earlier[$1]=${4:-}
}

# reference_time: the processor time of the reference now, the median of three. A test has its own.
reference_time() {
  local times=() clock processor median
  for _ in 1 2 3; do
    measure g++ -std=c++23 -O2 -c "$kx_root/hack/build-times.d/reference.cc" -o "$kx_measure_log.o"
    times+=("$processor")
  done
  median=$(printf '%s\n' "${times[@]}" | sort -n | sed -n 2p)
  [ "$median" -gt 0 ] || die "the reference takes no time: is g++ the compiler itself?"
  echo "$median"
}

tenths() { printf '%d.%d' "$(($1 / 10))" "$(($1 % 10))"; }

begin_measures() {
  kx_measure_log=$1
  printf '%-50s %9s %10s %14s   %s\n' measure clock processor "as reference" asked
  kx_before=$(reference_time)
  printf '%-50s %9s %8s s\n' reference "" "$(tenths "$kx_before")"
}

# end_block: measures the reference, and tells what became of the rows since the last one.
end_block() {
  local after name
  after=$(reference_time)
  for name in "${kx_rows[@]}"; do judge_row "$name" "$after"; done
  printf '%-50s %9s %8s s\n' reference "" "$(tenths "$after")"
  kx_rows=() kx_before=$after
}

# judge_row NAME AFTER: on the machine of the reference the time would be as much shorter as the mean of the two is larger there.
judge_row() {
  local name=$1 after=$2 value verdict="" earlier=${kx_earlier[$1]} low high
  value=${kx_clock[$name]}
  [ "${kx_which[$name]}" = clock ] || value=${kx_processor[$name]}
  kx_normal[$name]=$((value * 2 * kx_reference_asked / (kx_before + after)))
  low=$((kx_before < after ? kx_before : after)) high=$((kx_before < after ? after : kx_before))
  if [ $((high * 100)) -gt $((low * (100 + kx_tolerance))) ]; then kx_normal[$name]=-1; fi
  if [ -n "$earlier" ]; then
    kx_clock[$name]=$((kx_clock[$name] + kx_clock[$earlier])) kx_processor[$name]=$((kx_processor[$name] + kx_processor[$earlier]))
    if [ "${kx_normal[$earlier]}" -lt 0 ]; then kx_normal[$name]=-1; fi
    [ "${kx_normal[$name]}" -lt 0 ] || kx_normal[$name]=$((kx_normal[$name] + kx_normal[$earlier]))
  fi
  if [ "${kx_limit[$name]}" -gt 0 ]; then
    verdict="at most ${kx_limit[$name]} s on the ${kx_which[$name]}: "
    if [ "${kx_normal[$name]}" -lt 0 ]; then
      verdict+="not comparable, as the reference took $(tenths "$kx_before") s before and $(tenths "$after") s after"
      kx_not_comparable+=("$name")
    elif [ "${kx_normal[$name]}" -gt $((kx_limit[$name] * 10)) ]; then
      verdict+="MISSED"
      kx_missed+=("$name")
    else
      verdict+="met"
    fi
  fi
  printf '%-50s %7s s %8s s %12s s   %s\n' "$name" "$(tenths "${kx_clock[$name]}")" "$(tenths "${kx_processor[$name]}")" \
    "$(if [ "${kx_normal[$name]}" -ge 0 ]; then tenths "${kx_normal[$name]}"; else echo '?'; fi)" "$verdict"
}

# end_measures: returns 1 when something was missed, and 3 when only nobody can tell.
end_measures() {
  local name
  for name in "${kx_missed[@]}"; do log "$name: MISSED"; done
  for name in "${kx_not_comparable[@]}"; do log "$name: not comparable; measure again, and let nothing else run"; done
  [ ${#kx_missed[@]} -eq 0 ] || return 1
  [ ${#kx_not_comparable[@]} -eq 0 ] || return 3
}

# two_processors: this script and what it starts use two of the machine's processors, as all limits are about two.
two_processors() {
  local list pair
  [ "$(processors)" -ge 2 ] || die "this machine has $(processors) processor, and the limits are about two: measure on another one"
  list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
  pair=$(tr ',' '\n' <<<"$list" | awk -F- '{ for (n = $1; n <= ($2 == "" ? $1 : $2); n++) print n }' | sed -n 1,2p | paste -sd, -)
  taskset -cp "$pair" "$$" >/dev/null || die "taskset cannot keep the measures to the processors $pair"
}
