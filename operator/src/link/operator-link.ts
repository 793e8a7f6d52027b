import { LINK_PATH } from '@gw/gateway/link-protocol';
import type { GatewayProject } from '../api/resources.ts';
import type { Link } from '../objects/link.ts';
import { AUDIENCE } from './token-reviewer.ts';

/** Where the operator's own link is found: any replica can say, its leader answers. */
export interface LinkService {
  readonly service: string;
  readonly namespace: string;
  /** PEM: what pods check the listener's certificate by. */
  readonly ca: string | undefined;
}

/** The way of a project's pods to the operator. */
export function operatorLink(project: GatewayProject, { service, namespace, ca }: LinkService): Link {
  return {
    url: `wss://${service}.${namespace}.svc${LINK_PATH}`,
    projectId: project.metadata.uid ?? '',
    ...(ca ? { ca } : {}),
    credential: { kind: 'service-account', audience: AUDIENCE },
  };
}
