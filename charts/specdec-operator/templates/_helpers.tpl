{{- define "specdec.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "specdec.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "specdec.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- $full | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "specdec.selector" -}}
app.kubernetes.io/name: {{ include "specdec.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "specdec.labels" -}}
{{ include "specdec.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{- define "specdec.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "specdec.fullname" .) -}}
{{- end -}}

{{- define "specdec.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The configuration file: what is under `config`, and the namespaces that the rights are given in. */}}
{{- define "specdec.config" -}}
{{- $prometheus := dict -}}
{{- range $key, $value := .Values.config.prometheus -}}
{{- if not (or (kindIs "invalid" $value) (and (kindIs "string" $value) (eq $value ""))) -}}
{{- $_ := set $prometheus $key $value -}}
{{- end -}}
{{- end -}}
{{- $config := merge (dict "namespaces" .Values.namespaces) (omit .Values.config "prometheus") -}}
{{- if hasKey $prometheus "url" -}}
{{- $config = merge (dict "prometheus" $prometheus) $config -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* What the operator may do in each namespace it works in; nothing here reads a Secret. */}}
{{- define "specdec.rules" -}}
- apiGroups: [specdec.dev]
  resources: [specdecdeployments]
  verbs: [get, list, watch]
- apiGroups: [specdec.dev]
  resources: [specdecdeployments/status]
  verbs: [update]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, patch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end -}}
