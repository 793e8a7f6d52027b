/** The parts of a GatewayProject that shape its pods, their Service and the options of `gw serve`. */

import type { Schema } from './schema.ts';
import { serveFields, stateTimeoutMs } from './serve-fields.ts';
import { labelSelector, objectName, quantities } from './shared.ts';

const stringMap = { type: 'object', additionalProperties: { type: 'string' } } as const satisfies Schema;
const anyObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const satisfies Schema;
const anyList = {
  type: 'array',
  maxItems: 50,
  'x-kubernetes-list-type': 'atomic',
  items: anyObject,
} as const satisfies Schema;

export const secretsSchema = {
  type: 'object',
  description: 'Secrets of this namespace that env:// and file:// references in config resolve to.',
  properties: {
    env: {
      type: 'array',
      maxItems: 50,
      'x-kubernetes-list-type': 'set',
      items: objectName,
      description:
        'Every key of these Secrets becomes an environment variable of that name; pods are replaced when one changes. Keys that begin with GW_, NODE_, LD_ or OPENSSL_, PATH and GCONV_PATH must be allowed by the operator.',
    },
    directory: {
      ...objectName,
      description:
        'Every key of this Secret becomes a file under /var/run/secrets/gw (GW_SECRETS_DIR); changes are picked up without a restart.',
    },
    template: {
      type: 'array',
      maxItems: 50,
      'x-kubernetes-list-type': 'set',
      items: objectName,
      description: 'Further Secrets, which spec.pods.template refers to.',
    },
  },
} as const satisfies Schema;

export const podsSchema = {
  type: 'object',
  default: {},
  properties: {
    replicas: { type: 'integer', minimum: 0, maximum: 1000, default: 1, description: 'Number of gateway pods.' },
    image: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      description:
        "Image of the pods. Default: the operator's own; one of another repository must be allowed with --allow-images of the operator.",
    },
    imagePullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'], default: 'IfNotPresent' },
    imagePullSecrets: { type: 'array', maxItems: 20, 'x-kubernetes-list-type': 'set', items: objectName },
    resources: {
      type: 'object',
      default: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
      description: "Requests and limits of the gateway's container.",
      properties: { requests: quantities, limits: quantities },
    },
    labels: {
      ...stringMap,
      description: 'More labels for the pods; gw.dev/ and app.kubernetes.io/ ones cannot be replaced.',
    },
    annotations: { ...stringMap, description: 'More annotations for the pods; gw.dev/ ones cannot be replaced.' },
    autoscaling: {
      type: 'object',
      required: ['maxReplicas'],
      description: 'Makes a HorizontalPodAutoscaler, which then owns the number of pods: replicas is ignored.',
      properties: {
        minReplicas: { type: 'integer', minimum: 1, maximum: 1000, default: 2 },
        maxReplicas: { type: 'integer', minimum: 1, maximum: 1000 },
        targetCpuPercent: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          description: 'Average use of the requested CPU to aim at. Default: 70, unless metrics are given.',
        },
        metrics: {
          ...anyList,
          description: 'Metrics as in autoscaling/v2, besides the use of CPU.',
        },
        behavior: { ...anyObject, description: 'Scaling behaviour as in autoscaling/v2.' },
      },
      'x-kubernetes-validations': [
        { rule: 'self.minReplicas <= self.maxReplicas', message: 'minReplicas must not be above maxReplicas' },
      ],
    },
    disruptionBudget: {
      type: 'object',
      default: {},
      description: 'The PodDisruptionBudget, made where there may be several pods.',
      properties: {
        enabled: { type: 'boolean', default: true },
        maxUnavailable: {
          'x-kubernetes-int-or-string': true,
          description: 'Pods that a drain may take at once. Default: 1.',
        },
      },
    },
    affinity: { ...anyObject, description: 'As in every pod.' },
    topologySpreadConstraints: {
      ...anyList,
      description: 'As in every pod; without a labelSelector they get that of the pods. Default: spread over nodes.',
    },
    template: {
      ...anyObject,
      description:
        "A strategic merge patch of the pods' template, for what has no field here: containers, volumes and the like merge by name. It may set labels, annotations, resources, scheduling, termination, DNS, timings of probes, variables, and volumes of type emptyDir, configMap, downwardAPI and of Secrets that the project names; other fields must be allowed with --allow-pod-fields of the operator.",
    },
    nodeSelector: stringMap,
    priorityClassName: { type: 'string', maxLength: 253 },
    tolerations: {
      type: 'array',
      maxItems: 50,
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          key: { type: 'string' },
          operator: { type: 'string', enum: ['Exists', 'Equal'] },
          value: { type: 'string' },
          effect: { type: 'string', enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
          tolerationSeconds: { type: 'integer' },
        },
      },
    },
  },
} as const satisfies Schema;

export const serviceSchema = {
  type: 'object',
  default: {},
  properties: {
    type: { type: 'string', enum: ['ClusterIP', 'NodePort', 'LoadBalancer'], default: 'ClusterIP' },
    port: { type: 'integer', minimum: 1, maximum: 65535, description: 'Default: 80, with tls 443.' },
    nodePort: {
      type: 'integer',
      minimum: 1,
      maximum: 65535,
      description: 'For types NodePort and LoadBalancer. Default: chosen by the cluster.',
    },
    annotations: stringMap,
    loadBalancerClass: { type: 'string', minLength: 1, maxLength: 253, description: 'For type LoadBalancer.' },
    loadBalancerSourceRanges: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'set',
      items: { type: 'string', minLength: 1, maxLength: 64 },
      description: 'For type LoadBalancer: addresses (CIDR) that may reach it.',
    },
    externalTrafficPolicy: {
      type: 'string',
      enum: ['Cluster', 'Local'],
      description: "For types NodePort and LoadBalancer: Local keeps clients' addresses.",
    },
  },
  'x-kubernetes-validations': [
    {
      rule: "!has(self.nodePort) || self.type != 'ClusterIP'",
      message: 'nodePort needs type NodePort or LoadBalancer',
    },
    {
      rule: "!has(self.externalTrafficPolicy) || self.type != 'ClusterIP'",
      message: 'externalTrafficPolicy needs type NodePort or LoadBalancer',
    },
    {
      rule: "!(has(self.loadBalancerClass) || has(self.loadBalancerSourceRanges)) || self.type == 'LoadBalancer'",
      message: 'loadBalancerClass and loadBalancerSourceRanges need type LoadBalancer',
    },
  ],
} as const satisfies Schema;

export const networkPolicySchema = {
  type: 'object',
  default: {},
  description: "Who may reach the pods' admin port (8081); the traffic port is open to all.",
  properties: {
    enabled: { type: 'boolean', default: true },
    scrapers: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      description: "Pods that may scrape metrics, besides the operator's.",
      items: { type: 'object', properties: { namespaceSelector: labelSelector, podSelector: labelSelector } },
    },
  },
} as const satisfies Schema;

/** Options of `gw serve`, by the names of its flags: see serve-fields.ts; lists and `state` apart, they are passed on as they are. */
export const serveSchema = {
  type: 'object',
  default: {},
  description: 'Options of `gw serve`.',
  properties: {
    ...serveFields,
    state: {
      type: 'object',
      required: ['url'],
      description: 'Counters and caches that the pods share, in Redis or Valkey. Default: each pod counts for itself.',
      properties: {
        url: {
          type: 'object',
          required: ['secret', 'key'],
          description: 'Key of a Secret of this namespace that holds the URL, with its credentials.',
          properties: { secret: objectName, key: { type: 'string', minLength: 1, maxLength: 253 } },
        },
        timeoutMs: stateTimeoutMs,
      },
    },
  },
} as const satisfies Schema;
