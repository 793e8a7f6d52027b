{{- /* The command line of `gw serve`; options that are not set keep the program's defaults. */}}
{{- define "gw-gateway.arguments" -}}
{{- $v := .Values }}
- serve
{{- if or $v.artifact.configMaps $v.artifact.oci.reference $v.artifact.inline }}
- --artifact
- {{ printf "/artifact/%s" $v.artifact.oci.path | trimSuffix "/" }}
{{- end }}
- --listen
- 0.0.0.0:8080
- --admin-bind
- 0.0.0.0:8081
{{- range $name, $value := omit $v.serve "trustedProxies" "adminHosts" "state" }}
{{- if not (kindIs "invalid" $value) }}
- --{{ regexReplaceAll "([A-Z])" $name "-${1}" | lower }}
- {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end }}
{{- end }}
{{- with $v.serve.state }}
{{- if .urlSecret.name }}
- --state-prefix
- {{ printf "%s.%s" $.Release.Namespace (include "gw-gateway.name" $) }}
{{- if .timeoutMs }}
- --state-timeout-ms
- {{ toJson .timeoutMs | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- range $v.serve.trustedProxies }}
- --trusted-proxies
- {{ . | quote }}
{{- end }}
{{- range $v.serve.adminHosts }}
- --admin-hosts
- {{ . | quote }}
{{- end }}
{{- range $v.egress.allow }}
- --egress-allow
- {{ . | quote }}
{{- end }}
{{- if $v.allowPlaintext }}
- --allow-plaintext-upstream
{{- end }}
{{- with $v.tls }}
{{- if .secret }}
- --tls-cert
- /var/run/gw-tls/tls.crt
- --tls-key
- /var/run/gw-tls/tls.key
{{- if .minVersion }}
- --tls-min-version
- {{ .minVersion | quote }}
{{- end }}
{{- if ne .clientAuth "off" }}
- --tls-client-auth
- {{ .clientAuth }}
- --tls-client-ca
- {{ .clientCaSecret | empty | ternary "/var/run/gw-tls/ca.crt" "/var/run/gw-client-ca/ca.crt" }}
{{- end }}
{{- end }}
{{- end }}
{{- with $v.controlPlane }}
{{- if .url }}
- --control-plane
- {{ .url | quote }}
- --project-id
- {{ .projectId | quote }}
- --cache-dir
- /var/cache/gw
- --control-plane-wait
- "45"
{{- range $name, $value := .labels }}
- --data-plane-label
- {{ printf "%s=%s" $name $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- range $v.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "gw-gateway.environment" -}}
{{- $v := .Values }}
{{- with $v.trustedKeys }}
- {name: GW_TRUSTED_PUBKEY, value: {{ join "," . | quote }}}
{{- end }}
{{- with $v.serve.state.urlSecret }}
{{- if .name }}
- {name: GW_STATE, valueFrom: {secretKeyRef: {name: {{ .name | quote }}, key: {{ .key | quote }}}}}
{{- end }}
{{- end }}
{{- if $v.secrets.directory }}
- {name: GW_SECRETS_DIR, value: /var/run/secrets/gw}
{{- end }}
{{- if $v.controlPlane.url }}
- {name: GW_API_KEY_FILE, value: /var/run/gw-link/key}
{{- with $v.controlPlane.ca | default (ternary "/var/run/gw-link/ca.crt" "" (not (empty $v.controlPlane.keySecret.caKey))) }}
- {name: GW_CONTROL_PLANE_CA, value: {{ . | quote }}}
{{- end }}
- {name: GW_DATA_PLANE_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
{{- end }}
{{- with $v.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
