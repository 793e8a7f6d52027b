/** A GatewayProject that is shown at, and served from, a control plane (`gw-control`). */
import type { FromSchema, Schema } from './schema.ts';
import { objectName } from './shared.ts';

export const controlPlaneSchema = {
  type: 'object',
  required: ['url', 'secret'],
  description:
    'The control plane at which specs, revisions and deployments of this project appear; pods then get their artifacts from it. Specs, plugins and upstreams are owned by this cluster, what is deployed by whoever deployed last.',
  properties: {
    url: {
      type: 'string',
      minLength: 8,
      maxLength: 1024,
      pattern: '^https?://',
      description:
        'Of its REST API, such as https://gw-control.gw-system.svc:9090. An internal address must be allowed with --egress-allow of the operator; http:// must be named there, and needs allowPlaintext.',
    },
    project: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: 'Its name there; made where it does not exist. Default: NAMESPACE.NAME.',
    },
    secret: {
      ...objectName,
      description:
        'Secret of this namespace with an API token (key token), the data-plane key of the project (key data-plane-key) and, for a private CA, its certificate (key ca.crt). The Secret names the host of the URL: label gw.dev/credential: "true", annotation gw.dev/hosts.',
    },
  },
} as const satisfies Schema;

export const controlPlaneStatus = {
  type: 'object',
  description: 'The project at the control plane.',
  properties: {
    projectId: { type: 'string' },
    synced: { type: 'string', description: 'artifact_hash of the revision that was last sent.' },
    asked: {
      type: 'object',
      required: ['by', 'deploymentId'],
      description: 'What the cluster asked for last; each is asked for once.',
      properties: {
        by: { type: 'string', maxLength: 1024, description: 'The revision, and the Deployment that wants it.' },
        deploymentId: { type: 'string', description: 'Of the deployment there.' },
        found: { type: 'boolean', description: 'Somebody had deployed the same already.' },
      },
    },
    linked: {
      type: 'object',
      required: ['privateCa'],
      description: 'Pods get their artifacts from it: they have had a data-plane key.',
      properties: {
        privateCa: { type: 'boolean', description: 'They check it by ca.crt of the Secret.' },
        url: { type: 'string', maxLength: 1024, description: 'Where.' },
        secret: { type: 'string', maxLength: 253, description: 'The Secret with their key.' },
      },
    },
    deployed: { type: 'string', description: 'artifact_hash that is deployed there.' },
    deployedBy: { type: 'string', description: 'Who deployed it: operator, or a name from its audit log.' },
    drift: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      description: 'What differs there from this cluster, and what will become of it.',
      items: { type: 'string', maxLength: 512 },
    },
  },
} as const satisfies Schema;

export type ControlPlaneStatus = FromSchema<typeof controlPlaneStatus>;
