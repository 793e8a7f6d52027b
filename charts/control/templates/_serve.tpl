{{- /* The command line and the environment of `gw-control serve`. */}}
{{- define "gw-control.arguments" -}}
{{- $v := .Values }}
- serve
- --listen=0.0.0.0:9090
- --admin-bind=0.0.0.0:9091
- --migrate={{ $v.database.migrate }}
- --log-level={{ $v.logLevel }}
- --drain-delay={{ $v.drainDelay }}
- --drain-timeout={{ $v.drainTimeout }}
{{- if $v.tls.secret }}
- --tls-cert=/var/run/gw-tls/tls.crt
- --tls-key=/var/run/gw-tls/tls.key
{{- end }}
{{- if $v.compile.signingKeySecret.name }}
- --signing-key=/var/run/gw-signing/signing.pem
{{- end }}
{{- if $v.compile.allowPlaintext }}
- --allow-plaintext
{{- end }}
{{- with $v.oidc }}
{{- if .issuer }}
- {{ printf "--oidc-issuer=%s" .issuer | quote }}
- {{ printf "--oidc-audience=%s" .audience | quote }}
- {{ printf "--oidc-roles=%s" (join "," .roles) | quote }}
{{- with .roleClaim }}
- {{ printf "--oidc-role-claim=%s" . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- with $v.otlpEndpoint }}
- {{ printf "--otlp-endpoint=%s" . | quote }}
{{- end }}
{{- if not (kindIs "invalid" $v.traceSampling) }}
- --trace-sampling={{ $v.traceSampling }}
{{- end }}
{{- range $v.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "gw-control.environment" -}}
{{- $v := .Values }}
{{- if $v.database.embedded.enabled }}
- {name: DATABASE_URL, value: "pglite:///data"}
{{- else }}
- {name: DATABASE_URL, valueFrom: {secretKeyRef: {name: {{ $v.database.urlSecret.name | quote }}, key: {{ $v.database.urlSecret.key | quote }}}}}
{{- end }}
- {name: GW_CONTROL_ADMIN_TOKEN, valueFrom: {secretKeyRef: {name: {{ include "gw-control.adminTokenSecret" . | quote }}, key: {{ $v.adminToken.secret.key | quote }}}}}
{{- with $v.allowedOrigins }}
- {name: GW_CONTROL_ALLOWED_ORIGINS, value: {{ join "," . | quote }}}
{{- end }}
{{- with $v.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
