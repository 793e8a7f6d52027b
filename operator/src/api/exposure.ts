/** Exposure of a gateway: access from outside, scraping and monitoring. */
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
    'Serves HTTPS with the certificate in a Secret of type kubernetes.io/tls, such as cert-manager creates. A renewed certificate is loaded without a restart.',
  properties: {
    secret: { ...objectName, description: 'Secret with tls.crt and tls.key.' },
    minVersion: { type: 'string', enum: ['1.2', '1.3'], description: 'Minimum TLS version. Default: 1.2.' },
    clientAuth: {
      type: 'string',
      enum: ['off', 'optional', 'required'],
      default: 'off',
      description: 'Whether clients are asked for a certificate, and whether they must present one.',
    },
    clientCaSecret: {
      ...objectName,
      description:
        'Secret whose ca.crt contains the CAs that issue client certificates. Default: ca.crt of the same Secret.',
    },
  },
} as const satisfies Schema;

export const exposureSchema = {
  type: 'object',
  default: {},
  description: 'How the Service is exposed outside the cluster, in addition to its type.',
  properties: {
    ingress: {
      type: 'object',
      required: ['hosts'],
      description: 'Creates an Ingress.',
      properties: {
        className: { type: 'string', minLength: 1, maxLength: 253 },
        hosts: { type: 'array', minItems: 1, maxItems: 50, 'x-kubernetes-list-type': 'set', items: hostname },
        tlsSecret: {
          ...objectName,
          description: 'Secret with the certificate for the hosts, for the ingress controller.',
        },
        annotations: stringMap,
      },
    },
    httpRoute: {
      type: 'object',
      required: ['parentRefs'],
      description: 'Creates an HTTPRoute. The Gateway API must be installed.',
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
  description: 'Integration with the Prometheus operator and Grafana, if they are installed.',
  properties: {
    podMonitor: {
      type: 'object',
      description: 'Creates a PodMonitor for the admin port of the pods.',
      properties: {
        interval: { type: 'string', pattern: '^[0-9]+(ms|s|m)$', default: '30s' },
        labels: { ...stringMap, description: 'Labels by which Prometheus selects it.' },
      },
    },
    dashboard: {
      type: 'object',
      description: "Creates a ConfigMap with a Grafana dashboard, for Grafana's dashboard sidecar.",
      properties: {
        labels: {
          ...stringMap,
          default: { grafana_dashboard: '1' },
          description: 'Labels by which Grafana selects it.',
        },
      },
    },
  },
} as const satisfies Schema;
