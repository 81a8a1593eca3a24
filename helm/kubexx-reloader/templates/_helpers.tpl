{{/* The name of every object: the release's, with the chart's where that does not contain it. */}}
{{- define "kubexx-reloader.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "kubexx-reloader.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kubexx-reloader.labels" -}}
{{ include "kubexx-reloader.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "kubexx-reloader.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "kubexx-reloader.name" .) }}
{{- end -}}
