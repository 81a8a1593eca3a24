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
{{- $tag := $image.tag | default .Chart.AppVersion -}}
{{- if .Values.global.imageRegistry -}}
{{ printf "%s/%s:%s" .Values.global.imageRegistry $image.name $tag }}
{{- else if $image.digest -}}
{{ printf "%s@%s" $image.repository $image.digest }}
{{- else -}}
{{ printf "%s:%s" $image.repository $tag }}
{{- end -}}
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

{{/* What cannot work is said while rendering. */}}
{{- define "reloader.validate" -}}
{{- $reloader := .Values.reloader -}}
{{- if and $reloader.watchGlobally $reloader.namespaces -}}
{{- fail "reloader.namespaces needs reloader.watchGlobally=false: either all namespaces are watched or those listed" -}}
{{- end -}}
{{- if and $reloader.ignoreSecrets $reloader.ignoreConfigMaps -}}
{{- fail "reloader.ignoreSecrets and reloader.ignoreConfigMaps are both true: nothing is left to watch" -}}
{{- end -}}
{{- end -}}
