{{- define "gw-gateway.volumes" -}}
{{- $v := .Values }}
{{- if $v.artifact.configMaps }}
- name: artifact
  projected:
    defaultMode: 292
    sources:
      {{- range $v.artifact.configMaps }}
      - configMap: {name: {{ . | quote }}}
      {{- end }}
{{- else if $v.artifact.inline }}
- name: artifact
  projected:
    defaultMode: 292
    sources:
      - configMap: {name: {{ include "gw-gateway.inlineName" . }}}
{{- else if include "gw-gateway.fetches" . }}
- name: artifact
  emptyDir: {sizeLimit: 256Mi}
{{- with $v.imagePullSecrets }}
- name: gw-registry
  projected:
    defaultMode: 288
    sources:
      {{- range $index, $name := . }}
      - secret:
          name: {{ $name | quote }}
          optional: true
          items: [{key: .dockerconfigjson, path: {{ $index }}.json}]
      {{- end }}
{{- end }}
{{- else if $v.artifact.oci.reference }}
- name: artifact
  image:
    reference: {{ $v.artifact.oci.reference | quote }}
    {{- with $v.artifact.oci.pullPolicy }}
    pullPolicy: {{ . }}
    {{- end }}
{{- end }}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- with $v.secrets.directory }}
- name: secrets
  secret: {secretName: {{ . | quote }}, defaultMode: 288}
{{- end }}
{{- with $v.tls.secret }}
- name: tls
  secret: {secretName: {{ . | quote }}, defaultMode: 288}
{{- end }}
{{- if and (ne $v.tls.clientAuth "off") $v.tls.clientCaSecret }}
- name: client-ca
  secret: {secretName: {{ $v.tls.clientCaSecret | quote }}, defaultMode: 288}
{{- end }}
{{- if $v.controlPlane.url }}
- name: gw-link
  projected:
    defaultMode: 288
    sources:
      - secret:
          name: {{ $v.controlPlane.keySecret.name | quote }}
          items:
            - {key: {{ $v.controlPlane.keySecret.key | quote }}, path: key}
            {{- with $v.controlPlane.keySecret.caKey }}
            - {key: {{ . | quote }}, path: ca.crt}
            {{- end }}
- name: gw-cache
  emptyDir: {sizeLimit: 256Mi}
{{- end }}
{{- with $v.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "gw-gateway.volumeMounts" -}}
{{- $v := .Values }}
{{- if or $v.artifact.configMaps $v.artifact.oci.reference $v.artifact.inline }}
- {name: artifact, mountPath: /artifact, readOnly: true}
{{- end }}
- {name: tmp, mountPath: /tmp}
{{- if $v.secrets.directory }}
- {name: secrets, mountPath: /var/run/secrets/gw, readOnly: true}
{{- end }}
{{- if $v.tls.secret }}
- {name: tls, mountPath: /var/run/gw-tls, readOnly: true}
{{- end }}
{{- if and (ne $v.tls.clientAuth "off") $v.tls.clientCaSecret }}
- {name: client-ca, mountPath: /var/run/gw-client-ca, readOnly: true}
{{- end }}
{{- if $v.controlPlane.url }}
- {name: gw-link, mountPath: /var/run/gw-link, readOnly: true}
- {name: gw-cache, mountPath: /var/cache/gw}
{{- end }}
{{- with $v.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "gw-gateway.fetches" -}}
{{- with .Values.artifact.oci }}{{ if and .reference (eq .mount "InitContainer") }}true{{ end }}{{ end }}
{{- end }}

{{- /* The gateway's own image fetches the artifact, without a shell. */}}
{{- define "gw-gateway.initContainers" -}}
{{- $v := .Values }}
- name: artifact
  image: {{ include "gw-gateway.image" . | quote }}
  imagePullPolicy: {{ $v.image.pullPolicy }}
  command: [node, /app/gw-operator.js]
  args:
    - fetch
    - {{ $v.artifact.oci.reference | quote }}
    - /artifact
    {{- range $index, $_ := $v.imagePullSecrets }}
    - --docker-config
    - /var/run/gw-registry/{{ $index }}.json
    {{- end }}
    {{- if $v.artifact.oci.plainHttp }}
    - --plain-http-registry
    - {{ regexFind "^[^/]+" $v.artifact.oci.reference | quote }}
    {{- end }}
    {{- range $v.artifact.oci.egressAllow }}
    - --egress-allow
    - {{ . | quote }}
    {{- end }}
  resources:
    {{- toYaml $v.resources | nindent 4 }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    runAsNonRoot: true
    capabilities: {drop: [ALL]}
  volumeMounts:
    - {name: artifact, mountPath: /artifact}
    {{- if $v.imagePullSecrets }}
    - {name: gw-registry, mountPath: /var/run/gw-registry, readOnly: true}
    {{- end }}
{{- end }}
