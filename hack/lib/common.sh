# Shared by the scripts in hack/: messages, places, help, and long steps with a progress line. To be sourced.
# shellcheck shell=bash disable=SC2034

kx_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Everything the scripts keep outside the checkout: built tools, clusters, images. Safe to delete when no cluster is up.
KUBEXX_CACHE=${KUBEXX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kubexx}
export KUBEXX_CACHE
kx_bin=$KUBEXX_CACHE/bin
# Whatever the user's language: decimal points, and the same order of names for everybody.
export LC_ALL=C.UTF-8

log() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}
# A wrong command line: exit status 2, as usual.
usage_error() {
  printf '%s: %s (--help tells more)\n' "$(basename "$0")" "$*" >&2
  exit 2
}
# A script under `set -e` does not end without a word.
set -E
# shellcheck disable=SC2154
trap 'kx_status=$?; printf "%s: status %s at %s line %s: %s\n" "$(basename "$0")" "$kx_status" "${BASH_SOURCE[0]}" "$LINENO" "$BASH_COMMAND" >&2' ERR
is_root() { [ "$(id -u)" = 0 ]; }

# The comment at the head of a script is its help.
show_help() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"; }
wants_help() { case " $* " in *" --help "* | *" -h "*) return 0 ;; esac; return 1; }

# The sanitizers of clang tell functions and lines with binutils' addr2line: their own helper is in another package.
name_functions() {
  local tool
  if tool=$(command -v addr2line); then
    export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-$tool} TSAN_SYMBOLIZER_PATH=${TSAN_SYMBOLIZER_PATH:-$tool}
  fi
}

# Runs a command as root: directly, or through sudo.
as_root() {
  if is_root; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    die "needs root for '$*', and there is no sudo: run it as root"
  fi
}

# end_tree PID: ends a process and all that it has started: SIGTERM, and after 10 s SIGKILL.
end_tree() {
  local parents pids=("$1") next=0 pid round
  parents=$(sed -n 's/^\([0-9]*\) (.*) . \([0-9]*\) .*/\2 \1/p' /proc/[0-9]*/stat 2>/dev/null) || true
  while [ "$next" -lt ${#pids[@]} ]; do
    mapfile -t -O ${#pids[@]} pids < <(awk -v parent="${pids[next]}" '$1 == parent { print $2 }' <<<"$parents")
    next=$((next + 1))
  done
  kill -TERM "${pids[@]}" 2>/dev/null || true
  for ((round = 0; round < 100; round++)); do
    for pid in "${pids[@]}"; do
      # A process that has ended stays as long as its parent has not asked for its status.
      if grep -qsE '^State:[[:space:]]+[^ZX]' "/proc/$pid/status"; then sleep 0.1; continue 2; fi
    done
    return 0
  done
  kill -KILL "${pids[@]}" 2>/dev/null || true
}

# ends_with_us JOB: whoever ends this script ends the job, with all that it has started: a build that went on alone would keep its
# folder locked. Until `let_go`, which gives the signals back to those who had them. With kx_goes_on set the job is left alone.
ends_with_us() {
  local signal
  kx_traps=''
  [ -z "${kx_goes_on:-}" ] || return 0
  # A subshell has none of its own, but would tell of those of its parent.
  [ "$BASH_SUBSHELL" -gt 0 ] || kx_traps=$(trap -p HUP INT TERM)
  for signal in HUP INT TERM; do
    # shellcheck disable=SC2064 # this job
    trap "end_job $1 $signal" "$signal"
  done
}
let_go() {
  [ -z "${kx_goes_on:-}" ] || return 0
  trap - HUP INT TERM
  eval "$kx_traps"
}
end_job() { # end_job JOB SIGNAL
  end_tree "$1"
  wait "$1" 2>/dev/null || true
  let_go
  kill -s "$2" "$BASHPID"
}

# watched COMMAND...: runs it where it is seen.
watched() {
  local status=0 job
  "$@" &
  job=$!
  ends_with_us "$job"
  wait "$job" || status=$?
  let_go
  return "$status"
}

# long_step WHAT LOG COMMAND...: runs COMMAND with its output in LOG and says every 20 s how far it is.
# On failure the end of LOG is shown and the command's status returned.
long_step() {
  local what=$1 out=$2 started=$SECONDS next=20 status=0 job
  shift 2
  mkdir -p "$(dirname "$out")"
  log "$what ..."
  "$@" >"$out" 2>&1 </dev/null &
  job=$!
  ends_with_us "$job"
  while kill -0 "$job" 2>/dev/null; do
    if [ $((SECONDS - started)) -ge "$next" ]; then
      log "$what ... $((SECONDS - started)) s: $(tail -n 1 "$out" | cut -c1-100)"
      next=$((next + 20))
    fi
    sleep 0.2
  done
  wait "$job" || status=$?
  let_go
  if [ "$status" -ne 0 ]; then
    log "$what failed with status $status; the end of $out:"
    tail -n 40 "$out" >&2
    return "$status"
  fi
  log "$what: done in $((SECONDS - started)) s"
}

# wait_for SECONDS WHAT COMMAND...: polls until COMMAND succeeds; returns 1 when the time is up: KUBEXX_PATIENCE times the
# seconds, for a machine that does much else. What takes long is asked for less and less often, at last once a second: a call
# of kubectl costs a tenth of a second of processor time, and several tests wait at a time.
wait_for() {
  local deadline=$((SECONDS + $1 * ${KUBEXX_PATIENCE:-1})) what=$2 thirds=3
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      log "timed out waiting for $what"
      return 1
    fi
    sleep "$((thirds / 30)).$((thirds / 3 % 10))"
    [ "$thirds" -ge 30 ] || thirds=$((thirds + 1)) # of a tenth of a second
  done
}

# next_second: waits until the clock shows another second. Times in the Kubernetes API are whole seconds, so what is written then is
# later than what was written before.
next_second() {
  local now
  now=$(date +%s)
  while [ "$(date +%s)" = "$now" ]; do sleep 0.02; done
}

# source_files [PATTERN...]: files of the tree that exist, tracked or new, links left out.
source_files() {
  local file
  git -C "$kx_root" ls-files -co --exclude-standard -- "$@" | sort -u | while read -r file; do
    [ -f "$kx_root/$file" ] && [ ! -L "$kx_root/$file" ] && echo "$file"
  done
  return 0
}
