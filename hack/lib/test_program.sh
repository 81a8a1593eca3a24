#!/usr/bin/env bash
# test_program.sh PROGRAM [ARG...]: runs a program of GoogleTest and says no more than one needs to know.
#
# Of a program that passes, the counts are shown. Of one that fails, the output of each case that failed, 200 lines of each at
# most; where the program itself ended before its time (a sanitizer, a crash), the last 300 lines of everything. A program
# whose cases neither begin nor end for KUBEXX_TEST_PATIENCE seconds (default 600) hangs, whatever it logs: what its threads do
# is shown, and their stacks where gdb is installed, and it is killed. Exit code: the program's, and 1 where that is 0 though not
# all tests have run.
set -uo pipefail

output=$(mktemp)
program='' watcher=''
# shellcheck disable=SC2317  # the trap calls it
end() {
  trap - EXIT TERM INT
  [ -z "$watcher" ] || kill "$watcher" 2>/dev/null
  [ -z "$program" ] || kill -KILL "$program" 2>/dev/null
  rm -f "$output" "$output.stacks"
}
trap end EXIT
trap 'exit 143' TERM INT

# states_of PID: of each thread its name, state (T: stopped from outside), ticks of the processor so far, and where in the
# kernel it waits.
states_of() {
  local task
  for task in /proc/"$1"/task/*; do
    echo "  $(cat "$task/comm") $(sed 's/.*) //' "$task/stat" | awk '{ print $1, $12 + $13 }') $(cat "$task/wchan")"
  done 2>/dev/null
}

# Ends the program PID once it has been at one case for a long time.
end_if_it_hangs() {
  local patience=${KUBEXX_TEST_PATIENCE:-600} steps=-1 said=$SECONDS now
  trap 'kill "$!" 2>/dev/null; exit' TERM
  while kill -0 "$1" 2>/dev/null; do
    now=$(grep -acE '^\[ *(RUN|OK|FAILED|SKIPPED) *\]' "$output")
    if [ "$now" != "$steps" ]; then
      steps=$now said=$SECONDS
    elif [ $((SECONDS - said)) -ge "$patience" ]; then
      {
        echo "No case has begun or ended for $patience seconds, and the program is killed. Its threads, two seconds apart:"
        states_of "$1"
        sleep 2
        echo "  --"
        states_of "$1"
        timeout 120 gdb -p "$1" -batch -ex 'thread apply all backtrace 40' </dev/null 2>&1 || echo "gdb failed, or is not installed"
      } >"$output.stacks"
      kill -KILL "$1"
      return
    fi
    sleep 2 &
    wait $!
  done
}

# The sections of the cases that failed, and the end of everything where the program did not get to its end.
show_failure() {
  awk '
    /^\[ RUN      \]/ { n = 0 }
    { lines[n++ % 200] = $0 }
    /^\[  FAILED  \].*\(.* ms\)$/ { for (i = n > 200 ? n - 200 : 0; i < n; i++) print lines[i % 200] }
    /^\[==========\].* ran\./ { tail = 1 }
    tail' "$output"
  grep -qa '^\[==========\].* ran\.' "$output" || { grep -a '^\[ RUN' "$output" | tail -n 1; tail -n 300 "$output"; }
  [ ! -f "$output.stacks" ] || cat "$output.stacks"
}

"$@" >"$output" 2>&1 </dev/null &
program=$!
end_if_it_hangs "$program" &
watcher=$!
wait "$program"
code=$?
program=''
# One that a case ended by exit(0) has not run those after it.
if [ "$code" -eq 0 ] && ! grep -qa '^\[==========\] [1-9][0-9]* tests\? from .* ran\.' "$output"; then
  echo "The program ended with status 0 before it had run all of its tests."
  code=1
fi
if [ "$code" -eq 0 ]; then
  grep -a '^\[  PASSED  \]\|^\[  SKIPPED \]\|DISABLED' "$output"
else
  # The stacks of one that was killed are written by then.
  [ "$code" -ne 137 ] || wait "$watcher" 2>/dev/null
  show_failure
fi
exit "$code"
