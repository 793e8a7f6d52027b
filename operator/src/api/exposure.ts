/** How a gateway is reached from outside, scraped and looked at. */
import type { Schema } from './schema.ts';
import { objectName } from './shared.ts';

const stringMap = { type: 'object', additionalProperties: { type: 'string' } } as const satisfies Schema;
const hostname = {
  type: 'string',
  minLength: 1,
  maxLength: 253,
  pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
} as const satisfies Schema;

export const tlsSchema = {
  type: 'object',
  required: ['secret'],
  description:
    'Serves HTTPS with the certificate of a Secret of type kubernetes.io/tls, as cert-manager makes them; a renewed one is taken up without a restart.',
  properties: {
    secret: { ...objectName, description: 'Secret with tls.crt and tls.key.' },
    minVersion: { type: 'string', enum: ['1.2', '1.3'], description: 'Least TLS version. Default: 1.2.' },
    clientAuth: {
      type: 'string',
      enum: ['off', 'optional', 'required'],
      default: 'off',
      description: 'Whether clients are asked for a certificate.',
    },
    clientCaSecret: {
      ...objectName,
      description: "Secret whose ca.crt holds the CAs of clients' certificates. Default: ca.crt of the same Secret.",
    },
  },
} as const satisfies Schema;

export const exposureSchema = {
  type: 'object',
  default: {},
  description: 'How the Service is reached from outside the cluster, besides its type.',
  properties: {
    ingress: {
      type: 'object',
      required: ['hosts'],
      description: 'Makes an Ingress.',
      properties: {
        className: { type: 'string', minLength: 1, maxLength: 253 },
        hosts: { type: 'array', minItems: 1, maxItems: 50, 'x-kubernetes-list-type': 'set', items: hostname },
        tlsSecret: { ...objectName, description: "Certificate for the hosts, for the Ingress' controller." },
        annotations: stringMap,
      },
    },
    httpRoute: {
      type: 'object',
      required: ['parentRefs'],
      description: 'Makes an HTTPRoute of the Gateway API, which must be installed.',
      properties: {
        parentRefs: {
          type: 'array',
          minItems: 1,
          maxItems: 32,
          'x-kubernetes-list-type': 'atomic',
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: objectName,
              namespace: objectName,
              sectionName: { type: 'string', minLength: 1, maxLength: 253 },
              port: { type: 'integer', minimum: 1, maximum: 65535 },
            },
          },
        },
        hostnames: { type: 'array', maxItems: 16, 'x-kubernetes-list-type': 'set', items: hostname },
        annotations: stringMap,
      },
    },
  },
} as const satisfies Schema;

export const monitoringSchema = {
  type: 'object',
  default: {},
  description: 'For the Prometheus operator and Grafana, where they are installed.',
  properties: {
    podMonitor: {
      type: 'object',
      description: "Makes a PodMonitor for the pods' admin port.",
      properties: {
        interval: { type: 'string', pattern: '^[0-9]+(ms|s|m)$', default: '30s' },
        labels: { ...stringMap, description: 'What Prometheus selects it by.' },
      },
    },
    dashboard: {
      type: 'object',
      description: 'Makes a ConfigMap with a Grafana dashboard, for its sidecar.',
      properties: {
        labels: { ...stringMap, default: { grafana_dashboard: '1' }, description: 'What Grafana selects it by.' },
      },
    },
  },
} as const satisfies Schema;
