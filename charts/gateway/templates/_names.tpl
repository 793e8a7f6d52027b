{{- define "gw-gateway.name" -}}
{{- if contains "gateway" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-gateway" (.Release.Name | trunc 55 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "gw-gateway.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "gw-gateway.name" .) }}
{{- end }}

{{- define "gw-gateway.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "gw-gateway.selector" -}}
app.kubernetes.io/name: gw-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gw-gateway.labels" -}}
{{ include "gw-gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: gw
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gw-gateway.meta" -}}
name: {{ include "gw-gateway.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "gw-gateway.labels" . | nindent 2 }}
{{- end }}

{{- define "gw-gateway.port" -}}
{{ .Values.service.port | default (ternary 443 80 (not (empty .Values.tls.secret))) }}
{{- end }}

{{- /* The ConfigMap of artifact.inline: another artifact is another name, so that pods are replaced. */}}
{{- define "gw-gateway.inlineName" -}}
{{ printf "%s-%s" (include "gw-gateway.name" . | trunc 52 | trimSuffix "-") (.Values.artifact.inline | nospace | sha256sum | trunc 10) }}
{{- end }}
