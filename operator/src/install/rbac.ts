/** The rights that the operator needs, and no others: the chart's roles are made from this list. */
import { CERTIFICATE_SECRET } from '../certificates/certificate-secret.ts';
import { LEASE } from '../runtime/lease.ts';
import { WEBHOOK_SECRET } from '../webhooks/path-secret.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Limits the rule to objects of these names. */
  readonly resourceNames?: readonly string[];
  /** Why the operator needs it. */
  readonly why: string;
}

const OURS = ['gatewayprojects', 'apispecs', 'pluginrefs', 'deployments'];

/** Rules for users who may view a namespace (aggregated to `view`). */
export const VIEW_RULES: readonly Rule[] = [
  { why: 'looks at what serves, and why', apiGroups: ['gw.dev'], resources: OURS, verbs: ['get', 'list', 'watch'] },
];

/** Rules for users who may change objects of a namespace (aggregated to `edit` and `admin`). */
export const EDIT_RULES: readonly Rule[] = [
  {
    why: 'says what shall be served; the operator alone writes status',
    apiGroups: ['gw.dev'],
    resources: OURS,
    verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
  },
];

/** Rules for every namespace that the operator watches. */
export const RULES: readonly Rule[] = [
  { why: 'reads what users declare', apiGroups: ['gw.dev'], resources: OURS, verbs: ['list', 'watch'] },
  {
    why: 'finds the project of a pod that asks for a sidecar or for the link, also in namespaces that it does not watch',
    apiGroups: ['gw.dev'],
    resources: ['gatewayprojects'],
    verbs: ['get'],
  },
  {
    why: 'writes its status',
    apiGroups: ['gw.dev'],
    resources: OURS.map((plural) => `${plural}/status`),
    verbs: ['patch'],
  },
  {
    why: 'reads documents and plugins, and keeps artifacts',
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    why: 'reads keys, credentials, certificates and plugins of Secrets that are named',
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get'],
  },
  {
    why: 'sees which gateway pods are ready, and which pod a data plane is',
    apiGroups: [''],
    resources: ['pods'],
    verbs: ['get', 'list', 'watch'],
  },
  {
    why: 'makes what pods run as, and what stands in front of them',
    apiGroups: [''],
    resources: ['services', 'serviceaccounts'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  {
    why: 'sees which pods Services are routed to',
    apiGroups: ['discovery.k8s.io'],
    resources: ['endpointslices'],
    verbs: ['list', 'watch'],
  },
  {
    why: 'makes gateway pods, and takes those of a canary away',
    apiGroups: ['apps'],
    resources: ['deployments'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    why: 'closes the admin port of gateway pods',
    apiGroups: ['networking.k8s.io'],
    resources: ['networkpolicies'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    why: 'keeps drains of nodes from stopping a gateway',
    apiGroups: ['policy'],
    resources: ['poddisruptionbudgets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  ...[
    { group: 'autoscaling', plural: 'horizontalpodautoscalers', why: 'scales gateways that ask for it' },
    { group: 'networking.k8s.io', plural: 'ingresses', why: 'exposes gateways that ask for it' },
    { group: 'gateway.networking.k8s.io', plural: 'httproutes', why: 'the same, by the Gateway API' },
    { group: 'monitoring.coreos.com', plural: 'podmonitors', why: 'lets the Prometheus operator find gateways' },
  ].map(({ group, plural, why }) => ({
    why,
    apiGroups: [group],
    resources: [plural],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  })),
  { why: 'tells what it does', apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** Rules for the whole cluster, if the operator watches all namespaces. */
export const CLUSTER_RULES: readonly Rule[] = [
  {
    why: 'reads the labels by which namespaces are selected and allowed to use plugins of others',
    apiGroups: [''],
    resources: ['namespaces'],
    verbs: ['get', 'list', 'watch'],
  },
];

/** Rules for its own namespace. */
export const OWN_RULES: readonly Rule[] = [
  {
    why: 'makes the Lease by which a leader is elected',
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['create'],
  },
  {
    why: 'elects a leader',
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [LEASE],
    verbs: ['get', 'update'],
  },
];

/** Rules for its own namespace, if it makes the certificates of its HTTPS listener itself. */
export const CERTIFICATE_RULES: readonly Rule[] = [
  {
    why: 'makes the Secret with the certificates of its HTTPS listener',
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['create'],
  },
  {
    why: 'renews those certificates',
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [CERTIFICATE_SECRET],
    verbs: ['get', 'update'],
  },
];

/** Rules for its own namespace, if it has webhooks. */
export const WEBHOOK_PATH_RULES: readonly Rule[] = [
  {
    why: 'makes the Secret with the paths of its webhooks',
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['create'],
  },
  {
    why: 'changes those paths on demand',
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [WEBHOOK_SECRET],
    verbs: ['get', 'update'],
  },
];

/** On the webhook configurations of the chart, which it names. */
export const WEBHOOK_RULES: readonly Rule[] = [
  {
    why: 'tells API servers the paths of its webhooks, and which CA to trust if it makes the certificates',
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    verbs: ['get', 'patch'],
  },
];

/** Rules for its own namespace, if it hosts the data-plane link. */
export const LINK_RULES: readonly Rule[] = [
  {
    why: "points the link's Service at the replica that leads",
    apiGroups: ['discovery.k8s.io'],
    resources: ['endpointslices'],
    verbs: ['create', 'patch'],
  },
];

/** Rules for the whole cluster, if it hosts the data-plane link. */
export const LINK_CLUSTER_RULES: readonly Rule[] = [
  {
    why: 'learns whose the tokens are that data planes show',
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
  },
];
