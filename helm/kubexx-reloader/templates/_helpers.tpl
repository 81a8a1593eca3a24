{{/* Names and labels are those of stakater/Reloader's chart, so that a release of it can be upgraded to this chart:
     a selector cannot be changed, and a role binding cannot be given another role. */}}
{{- define "reloader.name" -}}
{{ .Values.nameOverride | default "reloader" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "reloader.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name (include "reloader.name" .) | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "reloader.namespace" -}}
{{ .Values.namespace | default .Release.Namespace }}
{{- end -}}

{{/* What selectors use; immutable in a Deployment. */}}
{{- define "reloader.matchLabels" -}}
app: {{ include "reloader.fullname" . }}
release: {{ .Release.Name | quote }}
{{- with .Values.reloader.matchLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "reloader.commonLabels" -}}
app: {{ include "reloader.fullname" . }}
release: {{ .Release.Name | quote }}
chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
heritage: {{ .Release.Service | quote }}
app.kubernetes.io/name: {{ include "reloader.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{/* The head of an object of the release. Arguments: root, name, namespace ("" for cluster scope), labels, annotations. */}}
{{- define "reloader.metadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- $common := include "reloader.commonLabels" .root | fromYaml }}
  {{- toYaml (merge (dict) (.labels | default dict) $common) | nindent 2 }}
annotations:
  {{- $own := dict "meta.helm.sh/release-name" .root.Release.Name "meta.helm.sh/release-namespace" .root.Release.Namespace }}
  {{- toYaml (merge (dict) $own (.annotations | default dict)) | nindent 2 }}
{{- end -}}

{{- define "reloader.serviceAccountName" -}}
{{- $account := .Values.reloader.serviceAccount -}}
{{- if $account.create -}}
{{ $account.name | default (include "reloader.fullname" .) }}
{{- else -}}
{{ $account.name | default "default" }}
{{- end -}}
{{- end -}}

{{- define "reloader.image" -}}
{{- $image := .Values.image -}}
{{- $tag := $image.tag | default .Chart.AppVersion | toString -}}{{/* 1.4 is a number */}}
{{- if .Values.global.imageRegistry -}}
{{ printf "%s/%s" .Values.global.imageRegistry $image.name }}{{ if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $tag }}{{ end }}
{{- else if $image.digest -}}
{{ printf "%s@%s" $image.repository $image.digest }}
{{- else -}}
{{ printf "%s:%s" $image.repository $tag }}
{{- end -}}
{{- end -}}

{{/* Of the release and of the Deployment, each once, as JSON: a name may stand for {name: NAME}. */}}
{{- define "reloader.imagePullSecrets" -}}
{{- $secrets := list -}}
{{- range concat (.Values.global.imagePullSecrets | default list) (.Values.reloader.deployment.imagePullSecrets | default list) -}}
{{- $secrets = append $secrets (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{ $secrets | uniq | toJson }}
{{- end -}}

{{/* A list of reloader.deployment, and what reloader's own of that name has besides, as JSON: volumes and mounts are where
     Reloader's chart has them, and where its documentation does. Arguments: root, list, key (what tells elements apart). */}}
{{- define "reloader.both" -}}
{{- $key := .key -}}
{{- $all := get .root.Values.reloader.deployment .list | default list -}}
{{- $known := list -}}
{{- range $all }}{{ $known = append $known (get . $key) }}{{ end -}}
{{- range get .root.Values.reloader .list | default list -}}
{{- if not (has (get . $key) $known) }}{{ $all = append $all . }}{{ end -}}
{{- end -}}
{{ toJson $all }}
{{- end -}}

{{/* "true" when `helm test` can see a rollout: not where these values say that nothing is rolled in the release's namespace, or not
     now, or where the chart makes no roles. */}}
{{- define "reloader.testReloads" -}}
{{- $r := .Values.reloader -}}
{{- $ignored := $r.ignoreNamespaces | replace " " "" | splitList "," | has (include "reloader.namespace" .) -}}
{{- $elsewhere := or $r.webhookUrl $r.ignoreConfigMaps $r.resourceLabelSelector $r.namespaceSelector (and $r.watchGlobally $ignored) -}}
{{- $later := or .Values.kubexx.dryRun .Values.kubexx.rollouts.paused .Values.kubexx.rollouts.maintenanceWindows -}}
{{- if and .Values.kubexx.test.reload $r.rbac.enabled (not $elsewhere) (not $later) -}}
true
{{- end -}}
{{- end -}}

{{/* The port of a URL. As in Go's programs a proxy needs no scheme, and its is http then; urlParse takes a host before a port for a scheme, or
     ends the rendering. */}}
{{- define "reloader.portOf" -}}
{{- $scheme := regexFind "^[A-Za-z][A-Za-z0-9+.-]*://" . -}}
{{- $authority := trimPrefix $scheme . | regexFind "^[^/?#]*" -}}
{{- $port := regexFind ":[0-9]+$" $authority | trimPrefix ":" -}}
{{- $usual := dict "" 80 "http" 80 "socks5" 1080 "socks5h" 1080 -}}
{{ $port | default (get $usual ($scheme | trimSuffix "://" | lower)) | default 443 }}
{{- end -}}

{{/* Where the operator's pods and that of `helm test` may go, as a YAML list: to the API server, to webhooks, and to the proxies on
     the way. */}}
{{- define "reloader.egress" -}}
{{- $ports := list 443 6443 }}
{{- $env := .Values.reloader.deployment.env }}
{{- $urls := list .Values.reloader.webhookUrl }}
{{- if .Values.kubexx.tracing.enabled }}{{ $urls = append $urls .Values.kubexx.tracing.endpoint }}{{ end }}
{{- range list ($env.open | default dict) ($env.secret | default dict) }}
{{- $variables := . }}
{{- range list "ALERT_WEBHOOK_URL" "ALERT_WEBHOOK_PROXY" "HTTPS_PROXY" "https_proxy" "HTTP_PROXY" "http_proxy" "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" }}
{{- $urls = append $urls (get $variables .) }}
{{- end }}
{{- $own := include "reloader.text" (get $variables "KUBERNETES_SERVICE_PORT") }}
{{- if regexMatch "^[0-9]{1,5}$" $own }}{{ $ports = append $ports (int $own) }}{{ end }}
{{- end }}
{{- range .Values.kubexx.notifications.receivers }}{{ $urls = append (append $urls .url) .proxy }}{{ end }}
{{- range $urls }}
{{- with include "reloader.text" . }}{{ $ports = append $ports (include "reloader.portOf" . | int) }}{{ end }}
{{- end }}
{{- range .Values.reloader.netpol.ports }}{{ $ports = append $ports (int .) }}{{ end }}
# Names.
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
# The API server (a policy sees the port behind its Service, often 6443), and webhooks.
- ports:
    {{- range $ports | uniq | sortAlpha }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
  {{- with .Values.reloader.netpol.to }}
  to:
    {{- toYaml . | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* "true" when replicas have to agree: asked for, or implied by their number or by shards. */}}
{{- define "reloader.ha" -}}
{{- if or .Values.reloader.enableHA (gt (int .Values.reloader.deployment.replicas) 1) (gt (int .Values.kubexx.shards) 1) -}}
true
{{- end -}}
{{- end -}}

{{- define "reloader.replicas" -}}
{{- if include "reloader.ha" . -}}
{{ int .Values.reloader.deployment.replicas }}
{{- else -}}
{{ min (int .Values.reloader.deployment.replicas) 1 }}
{{- end -}}
{{- end -}}

{{/* The namespaces to watch, as JSON: [""] for all, else the release's own and those listed, each once, sorted. */}}
{{- define "reloader.watched" -}}
{{- if .Values.reloader.watchGlobally -}}
{{ list "" | toJson }}
{{- else -}}
{{ append .Values.reloader.namespaces (include "reloader.namespace" .) | uniq | sortAlpha | toJson }}
{{- end -}}
{{- end -}}

{{/* Ends the rendering unless a value is empty or looks right. Arguments: name, value, pattern, wanted (in words). */}}
{{- define "reloader.check" -}}
{{- $text := toString .value -}}
{{- if not (or (kindIs "invalid" .value) (eq $text "") (regexMatch .pattern $text)) -}}
{{- fail (printf "%s is %q; it must be %s" .name $text .wanted) -}}
{{- end -}}
{{- end -}}

{{/* Says it in one line when values lack what templates read, as those of an older chart do with --reuse-values. */}}
{{- define "reloader.complete" -}}
{{- $kubexx := list "extraArgs" "test" "rollouts" "restore" "notifications" "tracing" "admission" "page" "kubeAPI" -}}
{{- $deployment := list "labels" "pod" "env" "containerSecurityContext" "livenessProbe" "readinessProbe" -}}
{{- $reloader := list "ignoreNamespaces" "matchLabels" "rbac" "rbac.enabled" "rbac.labels" "serviceAccount" "serviceMonitor" "podMonitor" "podDisruptionBudget" "netpol" "verticalPodAutoscaler" "deployment" -}}
{{- $paths := list "global" "image" "image.repository" "reloader" "kubexx" -}}
{{- range $reloader }}{{ $paths = append $paths (printf "reloader.%s" .) }}{{ end -}}
{{- range $deployment }}{{ $paths = append $paths (printf "reloader.deployment.%s" .) }}{{ end -}}
{{- range $kubexx }}{{ $paths = append $paths (printf "kubexx.%s" .) }}{{ end -}}
{{- range $path := $paths -}}
{{- $place := $.Values -}}
{{- $lacks := false -}}
{{- range splitList "." $path -}}
{{- if $lacks }}{{ else if hasKey $place . }}{{ $place = index $place . }}{{ else }}{{ $lacks = true }}{{ end -}}
{{- end -}}
{{- if or $lacks (kindIs "invalid" $place) -}}
{{- fail (printf "the values lack %s, which is needed: if they are those of an older chart, give helm upgrade --reset-then-reuse-values in place of --reuse-values; if it is set to null, leave it out" $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The operator tells kinds apart by their names, and has some of its own. */}}
{{- define "reloader.validateSourceKinds" -}}
{{- $taken := dict -}}
{{- range list "configmap" "configmaps" "secret" "secrets" "secretproviderclass" "secretproviderclasses" "deployment" "deployments" "statefulset" "statefulsets" "daemonset" "daemonsets" "cronjob" "cronjobs" "job" "jobs" "rollout" "rollouts" "deploymentconfig" "deploymentconfigs" "reloadpolicy" "reloadpolicies" "clusterreloadpolicy" "clusterreloadpolicies" -}}
{{- $_ := set $taken . "one of the operator's own" -}}
{{- end -}}
{{- range .Values.kubexx.workloadKinds -}}
{{- $_ := set $taken (lower .kind) "one of kubexx.workloadKinds" -}}
{{- $_ := set $taken .resource "one of kubexx.workloadKinds" -}}
{{- end -}}
{{- range $index, $kind := .Values.kubexx.sourceKinds -}}
{{- range list (lower $kind.kind) $kind.resource -}}
{{- if hasKey $taken . -}}
{{- fail (printf "kubexx.sourceKinds[%d]: a kind is called %q already, %s; kinds are told apart by their names" $index . (get $taken .)) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $taken (lower $kind.kind) "another one of the list" -}}
{{- $_ := set $taken $kind.resource "another one of the list" -}}
{{- end -}}
{{- end -}}

{{/* What cannot work is said while rendering. */}}
{{- define "reloader.validate" -}}
{{- $reloader := .Values.reloader -}}
{{- include "reloader.validateSourceKinds" . -}}
{{- if and $reloader.watchGlobally $reloader.namespaces -}}
{{- fail "reloader.namespaces needs reloader.watchGlobally=false: either all namespaces are watched or those listed" -}}
{{- end -}}
{{- if and $reloader.ignoreSecrets $reloader.ignoreConfigMaps -}}
{{- fail "reloader.ignoreSecrets and reloader.ignoreConfigMaps are both true: nothing is left to watch" -}}
{{- end -}}
{{- range $reloader.namespaces -}}
{{- include "reloader.check" (dict "name" "a name in reloader.namespaces" "value" . "pattern" "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" "wanted" "a namespace's name: lower-case letters, digits and dashes") -}}
{{- end -}}
{{- $number := dict "pattern" "^[0-9]{1,9}$" "wanted" "a whole number" -}}
{{- include "reloader.check" (merge (dict "name" "reloader.deployment.replicas" "value" $reloader.deployment.replicas) $number) -}}
{{- include "reloader.check" (merge (dict "name" "reloader.deployment.revisionHistoryLimit" "value" $reloader.deployment.revisionHistoryLimit) $number) -}}
{{- with $reloader.service -}}
{{- include "reloader.check" (dict "name" "reloader.service.port" "value" .port "pattern" "^[1-9][0-9]{0,4}$" "wanted" "a port from 1 to 65535") -}}
{{- end -}}
{{- include "reloader.check" (dict "name" "reloader.webhookUrl" "value" $reloader.webhookUrl "pattern" "^https?://." "wanted" "a URL that begins with http:// or https://") -}}
{{- include "reloader.check" (dict "name" "kubexx.tracing.endpoint" "value" .Values.kubexx.tracing.endpoint "pattern" "^https?://." "wanted" "a URL that begins with http:// or https://") -}}
{{- include "reloader.check" (dict "name" "reloader.pprofAddr" "value" $reloader.pprofAddr "pattern" ":[0-9]+$" "wanted" "an address with a port, as :6060") -}}
{{- include "reloader.check" (dict "name" "image.digest" "value" .Values.image.digest "pattern" "^sha256:[0-9a-f]{64}$" "wanted" "sha256: and 64 hexadecimal digits") -}}
{{- $duration := dict "pattern" "^(0|([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+)$" "wanted" "a duration, as 500ms, 30s or 1h30m" -}}
{{- include "reloader.check" (merge (dict "name" "kubexx.settleWindow" "value" .Values.kubexx.settleWindow) $duration) -}}
{{- include "reloader.check" (merge (dict "name" "kubexx.releaseSettleWindow" "value" .Values.kubexx.releaseSettleWindow) $duration) -}}
{{- include "reloader.check" (merge (dict "name" "kubexx.rollouts.healthTimeout" "value" .Values.kubexx.rollouts.healthTimeout) $duration) -}}
{{- include "reloader.check" (merge (dict "name" "kubexx.rollouts.minInterval" "value" .Values.kubexx.rollouts.minInterval) $duration) -}}
{{- include "reloader.check" (merge (dict "name" "kubexx.test.timeout" "value" .Values.kubexx.test.timeout) $duration) -}}
{{- range .Values.kubexx.rollouts.maintenanceWindows -}}
{{- include "reloader.check" (dict "name" "a window in kubexx.rollouts.maintenanceWindows" "value" . "pattern" "^(@[a-z]+|([^ ;]+ +){4}[^ ;]+) +[0-9][0-9.a-z]*( +[A-Za-z][A-Za-z0-9_+/-]*)?$" "wanted" "a cron schedule, a duration and perhaps a time zone, as \"0 2 * * 1-5 3h Europe/Berlin\"") -}}
{{- end -}}
{{- if and .Values.kubexx.notifications.existingSecret (or .Values.kubexx.notifications.receivers .Values.kubexx.notifications.cluster) -}}
{{- fail "kubexx.notifications.existingSecret holds the whole file: receivers and cluster must be empty" -}}
{{- end -}}
{{- if and .Values.kubexx.notifications.cluster (not .Values.kubexx.notifications.receivers) -}}
{{- fail "kubexx.notifications.cluster needs kubexx.notifications.receivers" -}}
{{- end -}}
{{- range .Values.kubexx.notifications.receivers -}}
{{- if .digest -}}
{{- include "reloader.check" (merge (dict "name" (printf "digest.every of the receiver %s in kubexx.notifications" .name) "value" .digest.every) $duration) -}}
{{- end -}}
{{- end -}}
{{- $page := .Values.kubexx.page -}}
{{- if $page.enabled -}}
{{- if not $reloader.watchGlobally -}}
{{- fail "kubexx.page.enabled needs reloader.watchGlobally=true: the page shows the whole cluster; for single namespaces, run kubexx-reloader ui on your machine" -}}
{{- end -}}
{{- if and $page.plainHTTP $page.tlsSecret -}}
{{- fail "kubexx.page has both tlsSecret and plainHTTP=true: the page is served either over TLS or without" -}}
{{- end -}}
{{- if not (or $page.plainHTTP $page.tlsSecret) -}}
{{- fail "kubexx.page.enabled needs kubexx.page.tlsSecret, the name of a Secret of the type kubernetes.io/tls; or kubexx.page.plainHTTP=true where a proxy adds TLS" -}}
{{- end -}}
{{- end -}}
{{- include "reloader.validateArgs" . -}}
{{- end -}}

{{/* The Secret with the file of receivers; empty when there are none. */}}
{{- define "reloader.notificationsSecret" -}}
{{- $notifications := .Values.kubexx.notifications -}}
{{- if $notifications.existingSecret -}}
{{ $notifications.existingSecret }}
{{- else if $notifications.receivers -}}
{{ printf "%s-notifications" (include "reloader.fullname" . | trunc 49 | trimSuffix "-") }}
{{- end -}}
{{- end -}}

{{/* That file, as YAML. */}}
{{- define "reloader.notificationsFile" -}}
{{- $file := dict "receivers" .Values.kubexx.notifications.receivers -}}
{{- with .Values.kubexx.notifications.cluster }}{{ $_ := set $file "cluster" . }}{{ end -}}
{{ toYaml $file }}
{{- end -}}

{{/* The Service of the admission webhook. */}}
{{- define "reloader.admission" -}}
{{- printf "%s-admission" (include "reloader.fullname" . | trunc 53 | trimSuffix "-") -}}
{{- end -}}

{{/* The program's flags, without the dashes: compared with its --help by the project's tests. */}}
{{- define "reloader.flags" -}}
admission admission-addr admission-name admission-url admission-warnings allow-restore auto-annotation auto-reload-all auto-search-annotation configmap-annotation configmap-auto-annotation context dry-run
enable-csi-integration enable-ha enable-pprof health-gate health-timeout history ignore-annotation ignored-workload-types
is-Argo-Rollouts keys kube-api-burst kube-api-qps kubeconfig log-format log-level maintenance-windows
max-concurrent-rollouts max-concurrent-rollouts-per-namespace metrics-addr min-rollout-interval namespace-selector
namespaces namespaces-to-ignore notifications otlp-endpoint pause-deployment-annotation pause-deployment-time-annotation pause-rollouts pprof-addr
record-baseline release-settle-window reload-in-place reload-on-create reload-on-delete reload-policies reload-strategy require-cluster-policies
resource-label-selector resources-to-ignore
search-match-annotation secret-annotation secret-auto-annotation settle-window shards source-kinds sources-in-other-namespaces stop-after-failures
sync-after-restart tracing webhook-url workers workload-kinds
{{- end -}}

{{/* What the program would refuse among the arguments that are passed on. */}}
{{- define "reloader.validateArgs" -}}
{{- $known := regexSplit "[ \n]+" (include "reloader.flags" .) -1 -}}
{{- $takesValue := false -}}
{{- range .Values.kubexx.extraArgs -}}
{{- if hasPrefix "--" . -}}
{{- $name := splitList "=" . | first | trimPrefix "--" -}}
{{- if not (has $name $known) -}}
{{- fail (printf "kubexx.extraArgs has %q, which is not a flag of kubexx-reloader; docs/reloader/flags.md lists them" .) -}}
{{- end -}}
{{- $takesValue = not (contains "=" .) -}}
{{- else if $takesValue -}}
{{- $takesValue = false -}}
{{- else -}}
{{- fail (printf "kubexx.extraArgs has %q, which is neither a flag nor the value of one; write --name=value" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
