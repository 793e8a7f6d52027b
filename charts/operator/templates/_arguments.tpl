{{- define "gw-operator.arguments" -}}
{{- $v := .Values }}
- run
- --log-level
- {{ $v.logLevel }}
- --workers
- {{ $v.workers | quote }}
- --updates-at-once
- {{ $v.updatesAtOnce | quote }}
{{- with $v.egress }}
{{- range .allow }}
- --egress-allow
- {{ . | quote }}
{{- end }}
{{- with .controlPlane }}
- --egress-allow
- {{ . }}.{{ $.Release.Namespace }}.svc
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
{{- with $v.policy }}
{{- range .allowImages }}
- --allow-images
- {{ . | quote }}
{{- end }}
{{- with .allowPodFields }}
- --allow-pod-fields
- {{ join "," . | quote }}
{{- end }}
{{- if not .templatePatches }}
- --template-patches=off
{{- end }}
{{- if .podDefaults }}
- --pod-defaults
- /var/run/gw-operator/pod-defaults/pod-defaults.yaml
{{- end }}
{{- if .requireSecretGrants }}
- --require-secret-grants
{{- end }}
{{- end }}
{{- if $v.webhooks.enabled }}
- --webhook-service
- {{ include "gw-operator.webhookService" . }}
- --validating-webhook
- {{ include "gw-operator.clusterName" . }}
{{- if include "gw-operator.injects" . }}
- --mutating-webhook
- {{ include "gw-operator.clusterName" . }}
{{- end }}
{{- if $v.webhooks.clientCaSecret }}
- --webhook-client-ca
- /var/run/gw-operator/client-ca/ca.crt
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
