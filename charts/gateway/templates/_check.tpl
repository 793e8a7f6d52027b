{{- /* What the schema cannot say: values that go together, and those that do not. */}}
{{- define "gw-gateway.check" -}}
{{- $v := .Values }}
{{- $sources := 0 }}
{{- range list $v.artifact.configMaps $v.artifact.oci.reference $v.artifact.inline }}{{ if . }}{{ $sources = add1 $sources }}{{ end }}{{ end }}
{{- if gt (int $sources) 1 }}{{ fail "artifact: give one of configMaps, oci.reference and inline" }}{{ end }}
{{- if and (eq (int $sources) 0) (not $v.controlPlane.url) }}{{ fail "artifact: give one of configMaps, oci.reference and inline, or controlPlane.url" }}{{ end }}
{{- if and $v.controlPlane.url (not (and $v.controlPlane.projectId $v.controlPlane.keySecret.name)) }}{{ fail "controlPlane.url needs controlPlane.projectId and controlPlane.keySecret.name" }}{{ end }}
{{- if and (ne $v.tls.clientAuth "off") (not $v.tls.secret) }}{{ fail "tls.clientAuth needs tls.secret" }}{{ end }}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) }}{{ fail "ingress.enabled needs ingress.hosts" }}{{ end }}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) }}{{ fail "httpRoute.enabled needs httpRoute.parentRefs" }}{{ end }}
{{- if and $v.service.nodePort (eq $v.service.type "ClusterIP") }}{{ fail "service.nodePort needs service.type NodePort or LoadBalancer" }}{{ end }}
{{- if and $v.autoscaling.enabled (gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) }}{{ fail "autoscaling.minReplicas must not be above maxReplicas" }}{{ end }}
{{- end }}
