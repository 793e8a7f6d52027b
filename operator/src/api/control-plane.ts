/** A GatewayProject that is shown at, and served from, a control plane (`gw-control`). */
import type { FromSchema, Schema } from './schema.ts';
import { objectName } from './shared.ts';

export const controlPlaneSchema = {
  type: 'object',
  required: ['url', 'secret'],
  description:
    'A control plane that shows the specs, revisions and deployments of this project, and from which pods then fetch their artifacts. This cluster owns the specs, plugins and upstreams; the last deployment, from either side, decides which artifact is served.',
  properties: {
    url: {
      type: 'string',
      minLength: 8,
      maxLength: 1024,
      pattern: '^https?://',
      description:
        "URL of its REST API, such as https://gw-control.gw-system.svc:9090. An internal address must be allowed with the operator's --egress-allow; an http:// URL also requires allowPlaintext.",
    },
    project: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: 'Name of the project there; it is created if it does not exist. Default: NAMESPACE.NAME.',
    },
    secret: {
      ...objectName,
      description:
        'Secret in this namespace with an API token (key token), the data-plane key of the project (key data-plane-key) and, for a private CA, its certificate (key ca.crt). The Secret must name the host of the URL: label gw.dev/credential: "true", annotation gw.dev/hosts.',
    },
  },
} as const satisfies Schema;

export const controlPlaneStatus = {
  type: 'object',
  description: 'The project in the control plane.',
  properties: {
    projectId: { type: 'string' },
    synced: { type: 'string', description: 'artifact_hash of the revision that was sent last.' },
    asked: {
      type: 'object',
      required: ['by', 'deploymentId'],
      description: 'The deployment that this cluster requested last; each is requested once.',
      properties: {
        by: { type: 'string', maxLength: 1024, description: 'The revision, and the Deployment that requests it.' },
        deploymentId: { type: 'string', description: 'ID of the deployment there.' },
        found: { type: 'boolean', description: 'The same artifact had already been deployed.' },
      },
    },
    linked: {
      type: 'object',
      required: ['privateCa'],
      description: 'Whether pods fetch their artifacts from it: true once they have a data-plane key.',
      properties: {
        privateCa: { type: 'boolean', description: 'Whether they verify its certificate with ca.crt of the Secret.' },
        url: { type: 'string', maxLength: 1024, description: 'URL that they connect to.' },
        secret: { type: 'string', maxLength: 253, description: 'The Secret that contains their key.' },
      },
    },
    deployed: { type: 'string', description: 'artifact_hash of the artifact that is deployed there.' },
    deployedBy: {
      type: 'string',
      description: "Who deployed it: operator, or a name from the control plane's audit log.",
    },
    drift: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      description: 'Differences between the control plane and this cluster, and what will happen to them.',
      items: { type: 'string', maxLength: 512 },
    },
  },
} as const satisfies Schema;

export type ControlPlaneStatus = FromSchema<typeof controlPlaneStatus>;
