#!/usr/bin/env bash
# What a person may type: only flags alone run the operator. Any other word is a command, or refused before anything is asked of
# the cluster that the kubeconfig names.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../hack/lib/common.sh
. "$root/hack/lib/common.sh"
program=${KUBEXX_BUILD_DIR:-$root/build/release}/bin/kubexx-reloader
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { die "FAILED: $*"; }

# Nobody listens there: an operator waits for it for ever, and `explain` says so.
export KUBECONFIG=$work/kubeconfig
cat >"$KUBECONFIG" <<'END'
apiVersion: v1
kind: Config
current-context: prod
contexts: [{name: prod, context: {cluster: prod, user: me, namespace: shop}}]
clusters: [{name: prod, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {token: none}}]
END

# gives STATUS WORDS ARGUMENT...: status 124 is that of a process that runs on, for five seconds.
gives() {
  local wanted=$1 words=$2 said status=0 limit=60
  shift 2
  [ "$wanted" != 124 ] || limit=5
  said=$(timeout "$limit" "$program" "$@" 2>&1) || status=$?
  [ "$status" = "$wanted" ] || fail "$*: status $status instead of $wanted: $said"
  grep -qF -e "$words" <<<"$said" || fail "$*: does not say '$words': $said"
}
local_only=(--metrics-addr=127.0.0.1:0)

log "flags alone run the operator"
gives 124 'Starting kubexx-reloader' "${local_only[@]}"
gives 124 'Starting kubexx-reloader' "${local_only[@]}" --auto-reload-all true
gives 124 'Starting kubexx-reloader' "${local_only[@]}" --reload-on-create true

log "explain is explain wherever it is"
refused='kubexx-reloader explain: '
gives 1 "$refused" --kubeconfig=/nowhere explain deployment/web
gives 1 "$refused" --kubeconfig=/nowhere --context prod explain deployment/web
gives 1 "$refused" --kubeconfig /nowhere --auto-reload-all -n shop explain deployment web -o json
gives 1 "$refused" explain deployment/web --kubeconfig=/nowhere
gives 2 'names no workload' explain web
gives 2 'one workload is needed' --context=prod explain
gives 2 'is not a kind of workload' explain pod/web
gives 2 'unknown flag: --bogus' explain --bogus deployment/web
gives 2 'one workload is needed' explain deployment/web extra more

log "explain answers, and logs nothing of what an operator would log"
said=$("$program" explain deployment/web 2>&1) && fail "explain: tells of a cluster that does not answer: $said"
grep -qF 'kubexx-reloader explain: the cluster cannot be reached: ' <<<"$said" || fail "explain: does not say what is wrong: $said"
! grep -F 'level=' <<<"$said" || fail "explain: speaks like an operator"

log "clean-up and self-test are found wherever they are, and say what is wrong"
gives 1 'kubexx-reloader clean-up: the cluster cannot be reached: ' clean-up
gives 1 'kubexx-reloader clean-up: ' --kubeconfig=/nowhere clean-up
gives 1 'kubexx-reloader clean-up: ' -n shop clean-up -l app=web --kubeconfig=/nowhere --templates
gives 2 'unknown flag: --auto-reload-all' clean-up --auto-reload-all
gives 2 'unexpected argument "deployment/web"' clean-up deployment/web
gives 2 'has an empty name' clean-up --namespaces=
gives 1 'kubexx-reloader self-test: the cluster cannot be reached: ' self-test
gives 1 'kubexx-reloader self-test: ' --deployment reloader self-test --timeout 10s -n shop
gives 2 'invalid value "soon"' self-test --timeout=soon
SELF_TEST_SETTLE_WINDOW=later gives 2 'invalid value "later"' self-test
SELF_TEST_SETTLE_WINDOW=1ms gives 1 'kubexx-reloader self-test: ' self-test --timeout 10s

log "ui as well"
gives 1 'kubexx-reloader ui: ' --kubeconfig=/nowhere ui
gives 1 'other machines can reach the address 0.0.0.0:0' ui --address 0.0.0.0:0
gives 1 'kubexx-reloader ui: ' -n shop ui --address nonsense
gives 2 'unexpected argument "deployment/web"' ui deployment/web
gives 2 'unknown flag: --bogus' ui --bogus
# Without a cluster it waits for one, and the page says so.
gives 124 'The page: http://127.0.0.1:' ui

log "status, pause, resume and retry as well"
gives 1 'kubexx-reloader status: the cluster cannot be reached: ' status
gives 1 'kubexx-reloader status: ' -A status -o json --kubeconfig=/nowhere
gives 2 'unexpected argument "web"' status web
gives 1 'kubexx-reloader pause: the cluster cannot be reached: ' pause deployment/web
gives 1 'kubexx-reloader resume: ' -n shop resume cm web
gives 1 'kubexx-reloader retry: ' retry --mended deployment web
gives 2 'one object is needed' pause
gives 2 'names no object' resume web
gives 2 'is not a kind of workload, source or policy' retry pod/web
gives 2 'unknown flag: --mended' pause --mended deployment/web

log "preview names its file, wherever it is"
gives 1 'kubexx-reloader preview: the cluster cannot be reached: ' preview -f -
gives 1 'kubexx-reloader preview: ' -f changed.yaml --auto-reload-all preview -n shop -o json --kubeconfig=/nowhere
gives 2 'give the file with -f' preview
gives 2 'unexpected argument "web"' preview -f - web
gives 0 '--exit-code' help preview

log "as a plugin of kubectl it is called kubectl reloader, and never runs the operator"
ln -s "$program" "$work/kubectl-reloader"
ln -s "$program" "$work/kubectl_complete-reloader"
(
  program=$work/kubectl-reloader
  gives 0 'kubectl reloader [flags] COMMAND'
  gives 0 'kubectl reloader explain [flags]' help explain
  gives 1 'kubectl reloader pause: the cluster cannot be reached: ' pause deployment/web
  gives 2 'See kubectl reloader explain --help' explain web
  gives 2 'there is no command "foo"' foo
  gives 2 'kubectl reloader: there is no command "nope"' help nope
  gives 2 'unknown flag: --metrics-addr' --metrics-addr=127.0.0.1:0
  program=$work/kubectl_complete-reloader
  gives 0 $'retry\tKIND/NAME: makes' ret
  gives 0 ':4' explain -n shop deployment/w
)

log "other words are refused, with a hint"
gives 2 'unexpected argument "foo"' foo
gives 2 'unexpected argument "foo"' "${local_only[@]}" foo
gives 2 'unexpected argument "deployment/web"' deployment/web explain
gives 2 'unexpected argument "explian"' --context=prod explian deployment/web
gives 2 'explain KIND/NAME' --context=prod deployment/web
gives 2 'unexpected argument "deployment/web"' --context explain deployment/web
gives 2 '--flag=false' --enable-ha false
gives 2 '--completion bash' completion bash
gives 2 'unexpected argument ""' ''
gives 2 'unexpected argument "foo"' -- foo
gives 1 'unknown flag: --bogus' --bogus
gives 2 'unknown flag: --bogus' --bogus explain deployment/web

log "help, version and completion, wherever they are"
gives 0 'kubexx-reloader [flags]' --help
gives 0 'kubexx-reloader [flags]' foo --help
gives 0 'kubexx-reloader [flags]' help
gives 0 'kubexx-reloader [flags]' --context=prod -h
gives 0 'KIND/NAME' explain --help
gives 0 'KIND/NAME' explain deployment/web -h
gives 0 'KIND/NAME' --context=prod explain --help
gives 0 'KIND/NAME' help explain
gives 0 '--templates' clean-up --help
gives 0 '--templates' help clean-up
gives 0 '--deployment' help self-test
gives 0 '--mended' help retry
gives 0 'kubexx-reloader [flags]' help help
gives 2 'there is no command "nope" to help with' help nope
gives 2 'See kubexx-reloader --help' --context=prod help nope
gives 0 '--all-namespaces' -n shop status --help
gives 0 'clean-up    removes what' --help
gives 0 'kubexx-reloader 0.' version
gives 0 'kubexx-reloader 0.' --version
gives 0 "clean-up) flags='--completion= --context=" --completion bash
gives 0 "'1:command:(explain preview history status ui pause resume retry clean-up self-test)'" --completion zsh
gives 0 '__fish_use_subcommand' --completion fish
log "PASSED"
