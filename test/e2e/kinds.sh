# The kinds that a patch of their own template does not roll. To be sourced after lib.sh.
# shellcheck shell=bash disable=SC2154,SC2016

kinds_variable=STAKATER_CONFIG_CONFIGMAP

apply_kinds() {
  kubectl apply -f "$here/kinds.yaml" >/dev/null
  kubectl wait --timeout "$((30 * ${KUBEXX_PATIENCE:-1}))s" --for condition=Established crd/rollouts.argoproj.io crd/deploymentconfigs.apps.openshift.io >/dev/null
  # A definition is established a moment before the server tells of its resource.
  wait_until 30 "the API of Rollouts" kubectl get rollouts.argoproj.io -A
  wait_until 30 "the API of DeploymentConfigs" kubectl get deploymentconfigs.apps.openshift.io -A
  kubectl apply -f "$here/kinds_objects.yaml" >/dev/null
  job_before=$(kubectl -n matrix get job import -o 'jsonpath={.metadata.uid}')
}

# of_kind RESOURCE NAME FILTER: what a filter of jq says of an object; its variable is $variable.
of_kind() { kubectl -n matrix get "$1" "$2" -o json | jq -r --arg variable "$kinds_variable" "$3"; }
has_variable() { # has_variable RESOURCE NAME VALUE
  [ "$(of_kind "$1" "$2" '.spec.template.spec.containers[0].env[]? | select(.name == $variable) | .value')" = "$3" ]
}
# The CronJob's own Jobs, as "VALUE of the variable" lines.
jobs_of_cron_job() {
  kubectl -n matrix get jobs -o json | jq -r --arg variable "$kinds_variable" '.items[] |
    select(any(.metadata.ownerReferences[]?; .kind == "CronJob" and .name == "nightly")) |
    .spec.template.spec.containers[0].env[] | select(.name == $variable) | .value'
}
cron_job_ran_with() { [ "$(jobs_of_cron_job | tail -n 1)" = "$1" ]; }
was_restarted() { [ "$(of_kind rollouts.argoproj.io restarted '.spec.restartAt // ""')" != "" ]; }

kinds_have_rolled() { # kinds_have_rolled VALUE
  local value
  value=$(digest "KEY=$1")
  wait_until 30 "the Job of the CronJob" cron_job_ran_with "$value"
  wait_until 30 "the Job made anew" has_variable job import "$value"
  wait_until 30 "the Rollout" has_variable rollouts.argoproj.io canary "$value"
  wait_until 30 "the restart of the Rollout" was_restarted
  wait_until 30 "the DeploymentConfig" has_variable deploymentconfigs.apps.openshift.io old "$value"
  [ "$(jobs_of_cron_job | wc -l)" = 1 ] || fail "the CronJob got several Jobs for one change: $(jobs_of_cron_job)"
  [ "$(of_kind job import .metadata.uid)" != "$job_before" ] || fail "the Job is the old one"
  [ "$(of_kind rollouts.argoproj.io canary .spec.unknown.kept)" = true ] || fail "a field of the Rollout was lost"
  [ "$(of_kind cronjob nightly '.spec.jobTemplate.spec.template.spec.containers[0].env // [] | length')" = 0 ] || fail "the CronJob itself was changed"
  log "CronJob, Job, Rollouts and DeploymentConfig are rolled"
}
