{{/* A probe's timing from its values: merged with defaults by the caller. */}}
{{- define "reloader.probe" -}}
initialDelaySeconds: {{ int .initialDelaySeconds }}
periodSeconds: {{ int .periodSeconds }}
timeoutSeconds: {{ int (.timeoutSeconds | default 5) }}
failureThreshold: {{ int (.failureThreshold | default 5) }}
successThreshold: {{ int (.successThreshold | default 1) }}
{{- end -}}

{{/* The command line, as a YAML list: first what stakater/Reloader's chart gives, in its order, then what is our own. */}}
{{- define "reloader.args" -}}
{{- $r := .Values.reloader -}}
{{- $args := list -}}
{{- with $r.logFormat }}{{ $args = append $args (printf "--log-format=%s" .) }}{{ end -}}
{{- with $r.logLevel }}{{ $args = append $args (printf "--log-level=%s" .) }}{{ end -}}
{{- if $r.ignoreSecrets }}{{ $args = append $args "--resources-to-ignore=secrets" }}{{ end -}}
{{- if $r.ignoreConfigMaps }}{{ $args = append $args "--resources-to-ignore=configmaps" }}{{ end -}}
{{- $kinds := list -}}
{{- if $r.ignoreJobs }}{{ $kinds = append $kinds "jobs" }}{{ end -}}
{{- if $r.ignoreCronJobs }}{{ $kinds = append $kinds "cronjobs" }}{{ end -}}
{{- with $kinds }}{{ $args = append $args (printf "--ignored-workload-types=%s" (join "," .)) }}{{ end -}}
{{- if and (not $r.watchGlobally) $r.namespaces -}}
{{- $args = append $args (printf "--namespaces=%s" (include "reloader.watched" . | fromJsonArray | join ",")) -}}
{{- end -}}
{{- /* Without effect when only some namespaces are watched; the program says so. */ -}}
{{- with $r.ignoreNamespaces }}{{ $args = append $args (printf "--namespaces-to-ignore=%s" .) }}{{ end -}}
{{- /* In quotes: a selector may hold commas, and the flag is one CSV record. */ -}}
{{- with $r.namespaceSelector }}{{ $args = append $args (printf "--namespace-selector=\"%s\"" .) }}{{ end -}}
{{- with $r.resourceLabelSelector }}{{ $args = append $args (printf "--resource-label-selector=%s" .) }}{{ end -}}
{{- if $r.enablePProf -}}
{{- $args = append $args "--enable-pprof" -}}
{{- with $r.pprofAddr }}{{ $args = append $args (printf "--pprof-addr=%s" .) }}{{ end -}}
{{- end -}}
{{- if $r.enableCSIIntegration }}{{ $args = append $args "--enable-csi-integration=true" }}{{ end -}}
{{- $flags := list
  (list "configmap" "--configmap-annotation") (list "secret" "--secret-annotation") (list "auto" "--auto-annotation")
  (list "secret_auto" "--secret-auto-annotation") (list "configmap_auto" "--configmap-auto-annotation")
  (list "search" "--auto-search-annotation") (list "match" "--search-match-annotation") (list "ignore" "--ignore-annotation")
  (list "pausePeriod" "--pause-deployment-annotation") (list "pauseTime" "--pause-deployment-time-annotation") -}}
{{- range $flags -}}
{{- $flag := index . 1 -}}
{{- with get ($r.custom_annotations | default dict) (first .) }}{{ $args = concat $args (list $flag .) }}{{ end -}}
{{- end -}}
{{- with $r.webhookUrl }}{{ $args = append $args (printf "--webhook-url=%s" .) }}{{ end -}}
{{- if $r.isArgoRollouts }}{{ $args = append $args "--is-Argo-Rollouts=true" }}{{ end -}}
{{- if $r.reloadOnCreate }}{{ $args = append $args "--reload-on-create=true" }}{{ end -}}
{{- if $r.reloadOnDelete }}{{ $args = append $args "--reload-on-delete=true" }}{{ end -}}
{{- if $r.syncAfterRestart }}{{ $args = append $args "--sync-after-restart=true" }}{{ end -}}
{{- if and $r.reloadStrategy (ne $r.reloadStrategy "default") }}{{ $args = append $args (printf "--reload-strategy=%s" $r.reloadStrategy) }}{{ end -}}
{{- if include "reloader.ha" . }}{{ $args = append $args "--enable-ha=true" }}{{ end -}}
{{- if $r.autoReloadAll }}{{ $args = append $args "--auto-reload-all=true" }}{{ end -}}
{{- with .Values.kubexx.settleWindow }}{{ $args = append $args (printf "--settle-window=%s" .) }}{{ end -}}
{{- with .Values.kubexx.releaseSettleWindow }}{{ $args = append $args (printf "--release-settle-window=%s" .) }}{{ end -}}
{{- with .Values.kubexx.workers }}{{ $args = append $args (printf "--workers=%d" (int .)) }}{{ end -}}
{{- if eq (toString .Values.kubexx.recordBaseline) "false" }}{{ $args = append $args "--record-baseline=false" }}{{ end -}}
{{- if gt (int .Values.kubexx.history) 0 }}{{ $args = append $args (printf "--history=%d" (int .Values.kubexx.history)) }}{{ end -}}
{{- if include "reloader.notificationsSecret" . }}{{ $args = append $args "--notifications=/etc/kubexx-reloader/notifications.yaml" }}{{ end -}}
{{- with .Values.kubexx.workloadKinds }}{{ $args = append $args (printf "--workload-kinds=%s" (toJson .)) }}{{ end -}}
{{- with .Values.kubexx.sourceKinds }}{{ $args = append $args (printf "--source-kinds=%s" (toJson .)) }}{{ end -}}
{{- if .Values.kubexx.sourcesInOtherNamespaces }}{{ $args = append $args "--sources-in-other-namespaces" }}{{ end -}}
{{- if .Values.kubexx.reloadInPlace }}{{ $args = append $args "--reload-in-place" }}{{ end -}}
{{- if .Values.kubexx.tracing.enabled -}}
{{- $args = append $args "--tracing" -}}
{{- with .Values.kubexx.tracing.endpoint }}{{ $args = append $args (printf "--otlp-endpoint=%s" .) }}{{ end -}}
{{- end -}}
{{- if .Values.kubexx.restore.enabled }}{{ $args = append $args "--allow-restore" }}{{ end -}}
{{- if .Values.kubexx.admission.enabled -}}
{{- $args = concat $args (list "--admission" (printf "--admission-name=%s" (include "reloader.admission" .)) (printf "--admission-addr=:%d" (int .Values.kubexx.admission.port))) -}}
{{- if .Values.kubexx.admission.warnings }}{{ $args = append $args "--admission-warnings" }}{{ end -}}
{{- end -}}
{{- with .Values.kubexx.kubeAPI.qps }}{{ $args = append $args (printf "--kube-api-qps=%d" (int .)) }}{{ end -}}
{{- with .Values.kubexx.kubeAPI.burst }}{{ $args = append $args (printf "--kube-api-burst=%d" (int .)) }}{{ end -}}
{{- if gt (int .Values.kubexx.shards) 1 }}{{ $args = append $args (printf "--shards=%d" (int .Values.kubexx.shards)) }}{{ end -}}
{{- if .Values.kubexx.dryRun }}{{ $args = append $args "--dry-run" }}{{ end -}}
{{- if not .Values.kubexx.policies }}{{ $args = append $args "--reload-policies=false" }}{{ end -}}
{{- if and .Values.kubexx.policies .Values.kubexx.clusterPolicies (not $r.watchGlobally) }}{{ $args = append $args "--require-cluster-policies" }}{{ end -}}
{{- concat $args (include "reloader.rolloutArgs" . | fromYamlArray) .Values.kubexx.extraArgs | toYaml -}}
{{- end -}}

{{/* How gently: what counts where no policy says otherwise. */}}
{{- define "reloader.rolloutArgs" -}}
{{- $rollouts := .Values.kubexx.rollouts -}}
{{- $args := list -}}
{{- if $rollouts.paused }}{{ $args = append $args "--pause-rollouts" }}{{ end -}}
{{- with $rollouts.maxConcurrent }}{{ $args = append $args (printf "--max-concurrent-rollouts=%d" (int .)) }}{{ end -}}
{{- with $rollouts.maxConcurrentPerNamespace }}{{ $args = append $args (printf "--max-concurrent-rollouts-per-namespace=%d" (int .)) }}{{ end -}}
{{- if $rollouts.healthGate }}{{ $args = append $args "--health-gate" }}{{ end -}}
{{- with $rollouts.healthTimeout }}{{ $args = append $args (printf "--health-timeout=%s" .) }}{{ end -}}
{{- with $rollouts.stopAfterFailures }}{{ $args = append $args (printf "--stop-after-failures=%d" (int .)) }}{{ end -}}
{{- with $rollouts.minInterval }}{{ $args = append $args (printf "--min-rollout-interval=%s" .) }}{{ end -}}
{{- with $rollouts.keys }}{{ $args = append $args (printf "--keys=%s" .) }}{{ end -}}
{{- with $rollouts.maintenanceWindows }}{{ $args = append $args (printf "--maintenance-windows=%s" (join ";" .)) }}{{ end -}}
{{ toYaml $args }}
{{- end -}}

{{/* The text of a variable's value: "" for what is not set. Numbers of a values file are floating-point, and 4000000 is no 4e+06. */}}
{{- define "reloader.text" -}}
{{- if kindIs "invalid" . -}}
{{- else if and (kindIs "float64" .) (eq . (float64 (int64 .))) -}}
{{ int64 . }}
{{- else -}}
{{ toString . }}
{{- end -}}
{{- end -}}

{{- define "reloader.env" -}}
{{- $env := .Values.reloader.deployment.env -}}
{{- $fullname := include "reloader.fullname" . -}}
{{- range $name, $value := $env.open }}
{{- with include "reloader.text" $value }}
- {name: {{ $name | quote }}, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- range $name, $value := $env.secret }}
{{- if include "reloader.text" $value }}
- name: {{ $name | quote }}
  valueFrom:
    secretKeyRef: {name: {{ $fullname }}, key: {{ $name | quote }}}
{{- end }}
{{- end }}
{{- range $secret, $variables := $env.existing }}
{{- range $name, $key := $variables }}
- name: {{ $name | quote }}
  valueFrom:
    secretKeyRef: {name: {{ $secret | quote }}, key: {{ $key | quote }}}
{{- end }}
{{- end }}
{{- range $name, $path := $env.field }}
{{- if not (empty $path) }}
- name: {{ $name | quote }}
  valueFrom:
    fieldRef: {fieldPath: {{ $path | quote }}}
{{- end }}
{{- end }}
{{- if not (or .Values.reloader.watchGlobally .Values.reloader.namespaces) }}
- name: KUBERNETES_NAMESPACE
  valueFrom:
    fieldRef: {fieldPath: metadata.namespace}
{{- end }}
- name: RELOADER_NAMESPACE
  valueFrom:
    fieldRef: {fieldPath: metadata.namespace}
- {name: RELOADER_DEPLOYMENT_NAME, value: {{ $fullname | quote }}}
{{- if include "reloader.ha" . }}
- name: POD_NAME
  valueFrom:
    fieldRef: {fieldPath: metadata.name}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef: {fieldPath: metadata.namespace}
{{- end }}
{{- if .Values.reloader.enableMetricsByNamespace }}
- {name: METRICS_COUNT_BY_NAMESPACE, value: enabled}
{{- end }}
{{- end -}}

{{/* Of the environment only what says how the API server is reached, as a YAML list, for the pods that are not the operator's. */}}
{{- define "reloader.connectionEnv" -}}
{{- $names := include "reloader.connectionNames" . | fromJsonArray -}}
{{- range include "reloader.env" . | fromYamlArray }}
{{- if has .name $names }}
- {{ toJson . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "reloader.connectionNames" -}}
{{ list "HTTPS_PROXY" "https_proxy" "HTTP_PROXY" "http_proxy" "NO_PROXY" "no_proxy" "KUBERNETES_SERVICE_HOST" "KUBERNETES_SERVICE_PORT" "SSL_CERT_FILE" "SSL_CERT_DIR" | toJson }}
{{- end -}}

{{/* What these variables are in the release's Secret, as JSON: pods begin anew when it changes. Empty when nothing of it is there. */}}
{{- define "reloader.connectionSecret" -}}
{{- $secret := .Values.reloader.deployment.env.secret | default dict -}}
{{- $found := dict -}}
{{- range $name := include "reloader.connectionNames" . | fromJsonArray -}}
{{- with include "reloader.text" (get $secret $name) }}{{ $_ := set $found $name . }}{{ end -}}
{{- end -}}
{{- with $found }}{{ toJson . }}{{ end -}}
{{- end -}}

{{/* The operator's mounts in which SSL_CERT_FILE and SSL_CERT_DIR lie, as far as the values tell these, and the volumes of the mounts, as JSON:
     {volumeMounts, volumes}. */}}
{{- define "reloader.connectionMounts" -}}
{{- $env := .Values.reloader.deployment.env -}}
{{- $paths := list -}}
{{- range list ($env.open | default dict) ($env.secret | default dict) -}}
{{- $variables := . -}}
{{- range list "SSL_CERT_FILE" "SSL_CERT_DIR" -}}
{{- $paths = concat $paths (include "reloader.text" (get $variables .) | splitList ":" | compact) -}}
{{- end -}}
{{- end -}}
{{- $mounts := list -}}
{{- $names := list -}}
{{- range $mount := include "reloader.both" (dict "root" . "list" "volumeMounts" "key" "mountPath") | fromJsonArray -}}
{{- range $paths -}}
{{- if hasPrefix (printf "%s/" (trimSuffix "/" $mount.mountPath)) (printf "%s/" .) -}}
{{- $mounts = append $mounts $mount -}}
{{- $names = append $names $mount.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $volumes := list -}}
{{- range include "reloader.both" (dict "root" . "list" "volumes" "key" "name") | fromJsonArray -}}
{{- if has .name $names }}{{ $volumes = append $volumes . }}{{ end -}}
{{- end -}}
{{ dict "volumeMounts" ($mounts | uniq) "volumes" $volumes | toJson }}
{{- end -}}
