{{- define "gw-operator.name" -}}
{{- if contains "gw-operator" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-gw-operator" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* Of what belongs to no namespace: two releases may have one name. */}}
{{- define "gw-operator.clusterName" -}}
{{ include "gw-operator.name" . }}.{{ .Release.Namespace }}
{{- end }}

{{- define "gw-operator.webhookService" -}}
{{ include "gw-operator.name" . | trunc 54 | trimSuffix "-" }}-webhooks
{{- end }}

{{- define "gw-operator.linkService" -}}
{{ include "gw-operator.name" . | trunc 58 | trimSuffix "-" }}-link
{{- end }}

{{- define "gw-operator.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "gw-operator.name" .) }}
{{- end }}

{{- define "gw-operator.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "gw-operator.selector" -}}
app.kubernetes.io/name: gw-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gw-operator.labels" -}}
{{ include "gw-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: gw
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gw-operator.meta" -}}
name: {{ include "gw-operator.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "gw-operator.labels" . | nindent 2 }}
{{- end }}

{{- /* Whether there is an HTTPS listener. */}}
{{- define "gw-operator.listens" -}}
{{- if or .Values.webhooks.enabled .Values.link.enabled }}true{{ end }}
{{- end }}

{{- /* Whether pods get sidecars: they are put in by a webhook, and live on the link. */}}
{{- define "gw-operator.injects" -}}
{{- if and .Values.webhooks.enabled .Values.link.enabled }}true{{ end }}
{{- end }}
