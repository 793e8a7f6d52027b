{{- define "gw-operator.name" -}}
{{- if contains "gw-operator" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-gw-operator" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gw-operator.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "gw-operator.name" .) }}
{{- end }}

{{- define "gw-operator.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
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
