// Defines the flags and their help. config.cc checks what they mean together.
#include "kubexx/reloader/operator/config.h"

namespace kubexx::reloader {

void AddKubeconfigFlags(flags::FlagSet& flags, rest::KubeconfigOptions& options) {
  flags.AddString("kubeconfig",
                  "kubeconfig file; by default $KUBECONFIG, then ~/.kube/config, then the pod's "
                  "service account",
                  &options.path);
  flags.AddString("context", "context of the kubeconfig", &options.context);
}

ConfigFlags::ConfigFlags(flags::FlagSet& flags) : flags_(flags) {
  AddAnnotations(flags);
  AddScope(flags);
  AddReloads(flags);
  AddProcess(flags);
  policy_flags_.AddTo(flags);
  flags.AddBool("dry-run",
                "write nothing to the cluster; log and count what would be rolled instead",
                &dry_run_);
  flags.AllowArguments("", &arguments_);  // the program checks them
}

void ConfigFlags::AddAnnotations(flags::FlagSet& flags) {
  AnnotationKeys& keys = rules_.keys;
  flags.AddString("configmap-annotation",
                  "annotation of a workload: comma list of names or regular expressions of the "
                  "ConfigMaps that reload it",
                  &keys.configmap_reload);
  flags.AddString("secret-annotation", "as configmap-annotation, for Secrets", &keys.secret_reload);
  flags.AddString("auto-annotation",
                  "annotation of a workload: \"true\" reloads it for everything it references",
                  &keys.auto_reload);
  flags.AddString("configmap-auto-annotation", "as auto-annotation, for ConfigMaps only",
                  &keys.configmap_auto);
  flags.AddString("secret-auto-annotation", "as auto-annotation, for Secrets only",
                  &keys.secret_auto);
  flags.AddString("ignore-annotation",
                  "annotation of a ConfigMap or Secret: \"true\" means it never reloads anything",
                  &keys.ignore);
  flags.AddString(
      "auto-search-annotation",
      "annotation of a workload: \"true\" reloads it for what it references and has the "
      "match annotation",
      &keys.search);
  flags.AddString(
      "search-match-annotation",
      "annotation of a ConfigMap or Secret: \"true\" lets the search annotation find it",
      &keys.match);
  flags.AddString("pause-deployment-annotation",
                  "annotation of a Deployment: after a reload it stays paused for this duration, "
                  "such as 5m, so that further reloads are one rollout",
                  &keys.pause_period);
  flags.AddString("pause-deployment-time-annotation",
                  "annotation in which the operator records when such a pause began",
                  &keys.paused_at);
}

void ConfigFlags::AddScope(flags::FlagSet& flags) {
  flags.AddList("namespaces",
                "watch these namespaces only; by default the one in KUBERNETES_NAMESPACE, and all "
                "when that is not set",
                &namespaces_);
  flags.AddList("namespaces-to-ignore",
                "namespaces in which nothing is reloaded; only when all are watched",
                &namespaces_to_ignore_);
  flags.AddList("namespace-selector",
                "reload only in namespaces with these labels: key:value, key:* or a label "
                "selector; only when all are watched",
                &namespace_selector_);
  flags.AddList("resource-label-selector",
                "watch only ConfigMaps and Secrets with these labels; syntax as namespace-selector",
                &resource_label_selector_);
  flags.AddList("resources-to-ignore", "do not watch these at all: configmaps or secrets",
                &resources_to_ignore_);
  flags.AddList("ignored-workload-types", "never reload these: jobs, cronjobs",
                &ignored_workload_types_);
  flags.AddString("is-Argo-Rollouts", "\"true\": also reload Argo Rollouts", &argo_rollouts_);
  flags.AddString("workload-kinds",
                  "also reload these kinds of custom resources, a list in YAML or JSON: "
                  "[{group: apps.kruise.io, version: v1alpha1, kind: CloneSet, resource: "
                  "clonesets}]; further members say where the pod template is and when a rollout "
                  "is done or has failed",
                  &workload_kinds_);
  flags.AddString(
      "source-kinds",
      "also reload when fields of objects of these kinds change, which workloads name "
      "in reloader.kubexx.io/reload-on; a list in YAML or JSON: [{group: "
      "cert-manager.io, version: v1, kind: Certificate, resource: certificates, fields: "
      "[status.revision, status.notAfter]}]",
      &source_kinds_);
  flags.AddBool("enable-csi-integration",
                "also reload for SecretProviderClasses of the Secrets Store CSI driver",
                &enable_csi_);
}

void ConfigFlags::AddReloads(flags::FlagSet& flags) {
  flags.AddBool("auto-reload-all",
                "reload every workload that does not switch it off by annotation",
                &rules_.auto_reload_all);
  flags.AddString(
      "reload-strategy",
      "how the operator rolls a workload: with env-vars it sets a variable in a container, "
      "with annotations it sets an annotation of the pod template",
      &reload_strategy_);
  flags.AddString("reload-on-create", "\"true\": creating a ConfigMap or Secret reloads, too",
                  &reload_on_create_);
  flags.AddString("reload-on-delete", "\"true\": deleting a ConfigMap or Secret reloads, too",
                  &reload_on_delete_);
  flags.AddBool("sync-after-restart",
                "with reload-on-create: sources that exist at the start count as created",
                &sync_after_restart_);
  flags.AddString("webhook-url",
                  "reload nothing; send a POST to this URL for every change of a ConfigMap or "
                  "Secret instead",
                  &webhook_url_);
  flags.AddDuration("settle-window",
                    "a workload is rolled when its sources have not changed for this long, from "
                    "0s to 1h",
                    &settle_window_);
  flags.AddDuration("release-settle-window",
                    "the same for a workload of the Helm release that has changed the source, as "
                    "the release may change the workload next; with 0s settle-window counts",
                    &release_window_);
  flags.AddBool("record-baseline",
                "write on each workload, in an annotation that rolls nothing, what data it runs "
                "with; without it changes made while nothing watches may be missed",
                &record_baseline_);
  flags.AddInt("history",
               "rollouts that are kept in a history on each workload, in an annotation that rolls "
               "nothing: when, for which keys of which source, and how they ended; from 0 (none) "
               "to 50",
               &history_);
  flags.AddBool("sources-in-other-namespaces",
                "obey the annotation reloader.kubexx.io/reload-on-other-namespaces: a workload may "
                "name ConfigMaps and Secrets of other namespaces that reload it, where these allow "
                "its namespace in reloader.kubexx.io/allowed-namespaces",
                &rules_.keys.other_namespaces);
  flags.AddBool("reload-in-place",
                "obey the annotation reloader.kubexx.io/reload-in-place: instead of a rollout a "
                "signal, a command or a request makes the programs in pods read their files anew; "
                "needs the rights to run commands in pods and to send requests to them",
                &rules_.reload_in_place);
  flags.AddInt("workers", "workloads written at the same time, from 1 to 64", &workers_);
}

void ConfigFlags::AddProcess(flags::FlagSet& flags) {
  flags.AddBool("enable-ha",
                "of several replicas only the one that holds a Lease reloads; needs POD_NAME and "
                "POD_NAMESPACE",
                &enable_ha_);
  flags.AddInt("shards",
               "with enable-ha: divide the namespaces into this many parts, from 1 to 64, which "
               "the replicas share among them",
               &shards_);
  flags.AddBool("admission",
                "serve a webhook that writes the digests of its sources on a workload before it is "
                "stored; needs RELOADER_NAMESPACE, a Service and a MutatingWebhookConfiguration",
                &admission_);
  flags.AddString("admission-name",
                  "the Service of that webhook; its Secret is NAME-tls, its "
                  "MutatingWebhookConfiguration NAMESPACE.NAME",
                  &admission_name_);
  flags.AddString("admission-addr", "where to serve that webhook", &admission_address_);
  flags.AddString("admission-url",
                  "for an operator outside of the cluster: where API servers find that webhook, "
                  "such as https://192.0.2.7:9443; replaces the Service",
                  &admission_url_);
  flags.AddBool("admission-warnings",
                "with admission: also warn whoever updates a ConfigMap or Secret of what that "
                "rolls; needs a ValidatingWebhookConfiguration",
                &admission_warnings_);
  flags.AddString(
      "notifications",
      "YAML file with the receivers that are told of rollouts, failures and long waits: "
      "Slack, Teams, Google Chat, CloudEvents, Grafana or plain text",
      &notifications_);
  flags.AddString("log-format", "json or text; an empty value means text", &log_format_);
  flags.AddString("log-level", "trace, debug, info, warning, error, fatal or panic", &log_level_);
  flags.AddString("metrics-addr", "where to serve /metrics, /live and /ready", &metrics_address_);
  flags.AddBool("tracing",
                "send spans of requests and of workloads that are looked at to an OpenTelemetry "
                "collector; OTEL_* variables have the rest of the settings",
                &tracing_);
  flags.AddString("otlp-endpoint",
                  "with tracing: the URL of the collector, such as http://collector:4318, in place "
                  "of OTEL_EXPORTER_OTLP_ENDPOINT",
                  &otlp_endpoint_);
  flags.AddBool("enable-pprof", "serve memory and thread figures at pprof-addr", &enable_pprof_);
  flags.AddString("pprof-addr", "where enable-pprof serves these figures", &pprof_address_);
  AddKubeconfigFlags(flags, kubeconfig_);
  flags.AddInt("kube-api-qps", "requests a second to the API server; negative for no limit", &qps_);
  flags.AddInt("kube-api-burst", "requests that may exceed kube-api-qps for a moment", &burst_);
}

}  // namespace kubexx::reloader
