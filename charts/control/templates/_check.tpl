{{- /* What the schema cannot say: values that go together, and those that do not. */}}
{{- define "gw-control.check" -}}
{{- $v := .Values }}
{{- $embedded := $v.database.embedded.enabled }}
{{- if and $embedded $v.database.urlSecret.name }}{{ fail "database: give one of urlSecret and embedded" }}{{ end }}
{{- if not (or $embedded $v.database.urlSecret.name) }}{{ fail "database: give urlSecret.name, a Secret with the URL of a PostgreSQL, or embedded.enabled to try it out" }}{{ end }}
{{- if and $embedded $v.autoscaling.enabled }}{{ fail "database.embedded is for one pod: autoscaling needs database.urlSecret" }}{{ end }}
{{- if and $v.oidc.issuer (not (and $v.oidc.audience $v.oidc.roles)) }}{{ fail "oidc.issuer needs oidc.audience and oidc.roles" }}{{ end }}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) }}{{ fail "ingress.enabled needs ingress.hosts" }}{{ end }}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) }}{{ fail "httpRoute.enabled needs httpRoute.parentRefs" }}{{ end }}
{{- if and $v.service.nodePort (eq $v.service.type "ClusterIP") }}{{ fail "service.nodePort needs service.type NodePort or LoadBalancer" }}{{ end }}
{{- if and $v.autoscaling.enabled (gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) }}{{ fail "autoscaling.minReplicas must not be above maxReplicas" }}{{ end }}
{{- end }}
