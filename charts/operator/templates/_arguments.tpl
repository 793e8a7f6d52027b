{{- define "gw-operator.arguments" -}}
{{- $v := .Values }}
- run
- --log-level
- {{ $v.logLevel }}
- --workers
- {{ $v.workers | quote }}
{{- with $v.egress }}
{{- range .allow }}
- --egress-allow
- {{ . | quote }}
{{- end }}
{{- range .plainHttpRegistries }}
- --plain-http-registry
- {{ . | quote }}
{{- end }}
{{- range .plainHttpSources }}
- --plain-http-source
- {{ . | quote }}
{{- end }}
- --source-cache
- {{ .cacheMiB | quote }}
{{- end }}
{{- if $v.webhooks.enabled }}
- --webhook-service
- {{ include "gw-operator.webhookService" . }}
{{- if not $v.webhooks.certManager.enabled }}
- --validating-webhook
- {{ include "gw-operator.clusterName" . }}
{{- if include "gw-operator.injects" . }}
- --mutating-webhook
- {{ include "gw-operator.clusterName" . }}
{{- end }}
{{- end }}
{{- end }}
{{- if $v.link.enabled }}
- --link-service
- {{ include "gw-operator.linkService" . }}
{{- end }}
{{- if and (include "gw-operator.listens" .) $v.webhooks.certManager.enabled }}
- --tls-dir
- /var/run/gw-operator/tls
{{- end }}
{{- range $v.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- /* As the API server takes a selector in a query. */}}
{{- define "gw-operator.namespaceSelector" -}}
{{- $pairs := list }}
{{- range $name, $value := .Values.watchNamespaceLabels }}{{ $pairs = append $pairs (printf "%s=%s" $name $value) }}{{ end }}
{{- join "," $pairs }}
{{- end }}
