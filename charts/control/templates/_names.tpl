{{- define "gw-control.name" -}}
{{- if contains "control" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-control" (.Release.Name | trunc 55 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "gw-control.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "gw-control.name" .) }}
{{- end }}

{{- define "gw-control.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "gw-control.selector" -}}
app.kubernetes.io/name: gw-control
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gw-control.labels" -}}
{{ include "gw-control.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: gw
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gw-control.meta" -}}
name: {{ include "gw-control.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "gw-control.labels" . | nindent 2 }}
{{- end }}

{{- define "gw-control.scheme" -}}
{{ .Values.tls.secret | empty | ternary "http" "https" }}
{{- end }}

{{- define "gw-control.adminTokenSecret" -}}
{{- .Values.adminToken.secret.name | default (printf "%s-admin-token" (include "gw-control.name" . | trunc 51 | trimSuffix "-")) }}
{{- end }}

{{- define "gw-control.claim" -}}
{{ printf "%s-data" (include "gw-control.name" . | trunc 58 | trimSuffix "-") }}
{{- end }}
