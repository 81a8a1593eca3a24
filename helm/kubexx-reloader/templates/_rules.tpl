{{/* What the operator may do in every namespace that it watches: read what it compares, write what it rolls. Nothing
     else; a switch that turns a feature off takes its rights away. */}}
{{- define "reloader.rules" -}}
{{- $r := .Values.reloader -}}
{{- $sources := list -}}
{{- if not $r.ignoreConfigMaps }}{{ $sources = append $sources "configmaps" }}{{ end -}}
{{- if not $r.ignoreSecrets }}{{ $sources = append $sources "secrets" }}{{ end -}}
- apiGroups: [""]
  resources: {{ toJson $sources }}
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [deployments, daemonsets, statefulsets]
  verbs: [get, list, watch, patch]
{{- if not $r.ignoreCronJobs }}
# A CronJob is rolled by a Job of its own; what it was rolled for is recorded on it.
- apiGroups: [batch]
  resources: [cronjobs]
  verbs: [get, list, watch, patch]
{{- end }}
{{- if not (and $r.ignoreJobs $r.ignoreCronJobs) }}
# A Job cannot be changed: it is deleted and made anew.
- apiGroups: [batch]
  resources: [jobs]
  verbs: {{ if $r.ignoreJobs }}[list, create]{{ else }}[get, list, watch, create, delete, patch]{{ end }}
{{- end }}
{{- if $r.isArgoRollouts }}
- apiGroups: [argoproj.io]
  resources: [rollouts]
  verbs: [get, list, watch, patch]
{{- end }}
{{- if $r.isOpenshift }}
- apiGroups: [apps.openshift.io]
  resources: [deploymentconfigs]
  verbs: [get, list, watch, patch]
{{- end }}
{{- range .Values.kubexx.workloadKinds }}
- apiGroups: [{{ .group | quote }}]
  resources: [{{ .resource | quote }}]
  verbs: [get, list, watch, patch]
{{- end }}
{{- range .Values.kubexx.sourceKinds }}
- apiGroups: [{{ .group | quote }}]
  resources: [{{ .resource | quote }}]
  verbs: [list, watch]
{{- end }}
{{- if $r.enableCSIIntegration }}
- apiGroups: [secrets-store.csi.x-k8s.io]
  resources: [secretproviderclasspodstatuses, secretproviderclasses]
  verbs: [list, watch]
{{- end }}
{{- if .Values.kubexx.reloadInPlace }}
# Pods are reloaded in place: the annotation that makes the kubelet look at once, a look at the files, and the action.
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, patch]
- apiGroups: [""]
  resources: [pods/exec]
  verbs: [get, create]
- apiGroups: [""]
  resources: [pods/proxy]
  verbs: [get, create, update]
{{- end }}
{{- if .Values.kubexx.restore.enabled }}
# The last good data are put back: they are kept in further objects, and written into the source.
- apiGroups: [""]
  resources: {{ ternary "[configmaps, secrets]" "[configmaps]" .Values.kubexx.restore.secrets }}
  verbs: [get, list, create, update, delete]
{{- end }}
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- if .Values.kubexx.policies }}
- apiGroups: [kubexx.io]
  resources: [reloadpolicies]
  verbs: [list, watch]
- apiGroups: [kubexx.io]
  resources: [reloadpolicies/status]
  verbs: [patch]
{{- end }}
{{- end -}}

{{/* Of the whole cluster, with watchGlobally only. */}}
{{- define "reloader.clusterRules" -}}
{{- if .Values.kubexx.policies }}
- apiGroups: [kubexx.io]
  resources: [clusterreloadpolicies]
  verbs: [list, watch]
- apiGroups: [kubexx.io]
  resources: [clusterreloadpolicies/status]
  verbs: [patch]
{{- end }}
{{- if .Values.reloader.namespaceSelector }}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
{{- end }}
{{- end -}}
