{{- /* Who may be asked about: the namespaces of the release, less those where a webhook could be in its own way. */}}
{{- define "gw-operator.webhookNamespaces" -}}
{{- $given := .Values.webhooks.namespaceSelector }}
{{- $expressions := $given.matchExpressions | default list }}
{{- if .Values.watchNamespaces }}
{{- $expressions = append $expressions (dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" .Values.watchNamespaces) }}
{{- end }}
{{- range $name, $value := .Values.watchNamespaceLabels }}
{{- $expressions = append $expressions (dict "key" $name "operator" "In" "values" (list $value)) }}
{{- end }}
{{- $result := dict "matchExpressions" $expressions }}
{{- with $given.matchLabels }}{{ $_ := set $result "matchLabels" . }}{{ end }}
{{- toJson $result }}
{{- end }}

{{- /* The operator writes the path, a part of which is random. What there is is repeated: to leave out what the release before said would take it away. */}}
{{- define "gw-operator.livePath" -}}
{{- $live := lookup "admissionregistration.k8s.io/v1" .kind "" (include "gw-operator.clusterName" .root) }}
{{- range $live.webhooks }}
{{- if eq .name $.name }}{{ dig "service" "path" "" .clientConfig }}{{ end }}
{{- end }}
{{- end }}

{{- define "gw-operator.webhookClient" -}}
admissionReviewVersions: [v1]
sideEffects: None
matchPolicy: Equivalent
failurePolicy: {{ .root.Values.webhooks.failurePolicy }}
timeoutSeconds: {{ .root.Values.webhooks.timeoutSeconds }}
clientConfig:
  service:
    name: {{ include "gw-operator.webhookService" .root }}
    namespace: {{ .root.Release.Namespace }}
    {{- with include "gw-operator.livePath" . }}
    path: {{ . }}
    {{- end }}
    port: 443
{{- end }}

{{- define "gw-operator.webhookMeta" -}}
name: {{ include "gw-operator.clusterName" . }}
labels:
  {{- include "gw-operator.labels" . | nindent 2 }}
{{- if .Values.webhooks.certManager.enabled }}
annotations:
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "gw-operator.name" . }}
{{- end }}
{{- end }}
