module foreign-kinds

go 1.22

// Their CustomResourceDefinitions: what charts make of their kinds, an API server must take.
require (
	github.com/cert-manager/cert-manager v1.16.2
	github.com/prometheus-operator/prometheus-operator v0.79.2
	sigs.k8s.io/gateway-api v1.2.1
)
