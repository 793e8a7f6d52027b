import { LINK_PATH } from '@gw/gateway/link-protocol';
import type { GatewayProject } from '../api/resources.ts';
import type { Link } from '../objects/link.ts';
import { AUDIENCE } from './token-reviewer.ts';

/** Address of the operator's own link: any replica knows it, its leader answers. */
export interface LinkService {
  readonly service: string;
  readonly namespace: string;
  /** PEM: the authorities by which pods verify the listener's certificate. */
  readonly ca: string | undefined;
}

/** Returns the link of a project's pods to the operator. */
export function operatorLink(project: GatewayProject, { service, namespace, ca }: LinkService): Link {
  return {
    url: `wss://${service}.${namespace}.svc${LINK_PATH}`,
    projectId: project.metadata.uid ?? '',
    ...(ca ? { ca } : {}),
    credential: { kind: 'service-account', audience: AUDIENCE },
  };
}
