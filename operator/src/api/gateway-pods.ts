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
  description: 'Secrets in this namespace that env:// and file:// references in config resolve to.',
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
      description: 'Additional Secrets that spec.pods.template refers to.',
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
        "Image of the pods. Default: the operator's own image. An image from another repository must be allowed with the operator's --allow-images.",
    },
    imagePullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'], default: 'IfNotPresent' },
    imagePullSecrets: { type: 'array', maxItems: 20, 'x-kubernetes-list-type': 'set', items: objectName },
    resources: {
      type: 'object',
      default: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } },
      description: 'Requests and limits of the gateway container.',
      properties: { requests: quantities, limits: quantities },
    },
    labels: {
      ...stringMap,
      description: 'Additional labels for the pods. Labels under gw.dev/ and app.kubernetes.io/ cannot be overridden.',
    },
    annotations: {
      ...stringMap,
      description: 'Additional annotations for the pods. Annotations under gw.dev/ cannot be overridden.',
    },
    autoscaling: {
      type: 'object',
      required: ['maxReplicas'],
      description: 'Creates a HorizontalPodAutoscaler, which then controls the number of pods; replicas is ignored.',
      properties: {
        minReplicas: { type: 'integer', minimum: 1, maximum: 1000, default: 2 },
        maxReplicas: { type: 'integer', minimum: 1, maximum: 1000 },
        targetCpuPercent: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          description: 'Target average utilization of the requested CPU. Default: 70, unless metrics are given.',
        },
        metrics: {
          ...anyList,
          description: 'Metrics as in autoscaling/v2, in addition to CPU utilization.',
        },
        behavior: { ...anyObject, description: 'Scaling behavior as in autoscaling/v2.' },
      },
      'x-kubernetes-validations': [
        { rule: 'self.minReplicas <= self.maxReplicas', message: 'minReplicas must not be above maxReplicas' },
      ],
    },
    disruptionBudget: {
      type: 'object',
      default: {},
      description: 'The PodDisruptionBudget, which is created if there can be several pods.',
      properties: {
        enabled: { type: 'boolean', default: true },
        maxUnavailable: {
          'x-kubernetes-int-or-string': true,
          description: 'Number of pods that can be evicted at once. Default: 1.',
        },
      },
    },
    affinity: { ...anyObject, description: 'As in a pod.' },
    topologySpreadConstraints: {
      ...anyList,
      description: 'As in a pod; entries without a labelSelector get that of the pods. Default: spread over nodes.',
    },
    template: {
      ...anyObject,
      description:
        "A strategic merge patch of the pod template, for anything that has no field here; containers, volumes and the like are merged by name. It can set labels, annotations, resources, scheduling, termination, DNS, probe timings, environment variables, and volumes of type emptyDir, configMap, downwardAPI and of Secrets that the project names. Other fields must be allowed with the operator's --allow-pod-fields.",
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
    port: {
      type: 'integer',
      minimum: 1,
      maximum: 65535,
      description: 'Port of the Service. Default: 80, or 443 with tls.',
    },
    nodePort: {
      type: 'integer',
      minimum: 1,
      maximum: 65535,
      description: 'Node port, for types NodePort and LoadBalancer. Default: chosen by the cluster.',
    },
    annotations: stringMap,
    loadBalancerClass: {
      type: 'string',
      minLength: 1,
      maxLength: 253,
      description: 'Load balancer class, for type LoadBalancer.',
    },
    loadBalancerSourceRanges: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'set',
      items: { type: 'string', minLength: 1, maxLength: 64 },
      description: 'For type LoadBalancer: addresses (CIDR) that are allowed to connect.',
    },
    externalTrafficPolicy: {
      type: 'string',
      enum: ['Cluster', 'Local'],
      description: 'For types NodePort and LoadBalancer: Local preserves client addresses.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: "!has(self.nodePort) || self.type != 'ClusterIP'",
      message: 'nodePort requires type NodePort or LoadBalancer',
    },
    {
      rule: "!has(self.externalTrafficPolicy) || self.type != 'ClusterIP'",
      message: 'externalTrafficPolicy requires type NodePort or LoadBalancer',
    },
    {
      rule: "!(has(self.loadBalancerClass) || has(self.loadBalancerSourceRanges)) || self.type == 'LoadBalancer'",
      message: 'loadBalancerClass and loadBalancerSourceRanges require type LoadBalancer',
    },
  ],
} as const satisfies Schema;

export const networkPolicySchema = {
  type: 'object',
  default: {},
  description: 'Clients of the admin port of the pods (8081); the traffic port is open to all.',
  properties: {
    enabled: { type: 'boolean', default: true },
    scrapers: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      description: 'Pods that are allowed to scrape metrics, in addition to the operator.',
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
      description: 'Counters and caches shared by the pods, in Redis or Valkey. Default: each pod has its own.',
      properties: {
        url: {
          type: 'object',
          required: ['secret', 'key'],
          description: 'Key of a Secret in this namespace that contains the URL, including credentials.',
          properties: { secret: objectName, key: { type: 'string', minLength: 1, maxLength: 253 } },
        },
        timeoutMs: stateTimeoutMs,
      },
    },
  },
} as const satisfies Schema;
