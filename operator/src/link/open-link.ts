/** The link of a leading operator: the channel and the downloads on its HTTPS listener, and the way to it. */

import { LINK_PATH } from '@gw/gateway/link-protocol';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { GatewayProject } from '../api/resources.ts';
import type { Link } from '../objects/link.ts';
import type { ApiServer } from '../runtime/api-server.ts';
import { backoff, pause } from '../runtime/backoff.ts';
import type { HttpsRoutes } from '../runtime/https-server.ts';
import type { AdmitWith } from './admission.ts';
import type { ArtifactFiles } from './artifact-files.ts';
import { ARTIFACTS, downloads } from './downloads.ts';
import { type LeaderEndpoint, writeLeaderEndpoint } from './leader-endpoints.ts';
import { LinkHost } from './link-host.ts';
import { operatorLink } from './operator-link.ts';
import { TokenReviewer } from './token-reviewer.ts';

export interface OpenLinkWith extends AdmitWith {
  readonly api: ApiServer;
  readonly routes: HttpsRoutes;
  readonly endpoint: LeaderEndpoint;
  /** PEM: the authorities by which pods verify the listener's certificate. */
  readonly ca: () => string | undefined;
  readonly files: ArtifactFiles;
  readonly registry: Registry;
  readonly log: Logger;
}

export interface OpenLink {
  readonly host: LinkHost;
  linkOf(project: GatewayProject): Link;
  close(): Promise<void>;
}

const BASE_MS = 500;
const MAX_MS = 30_000;

/** Takes connections at once; that the Service leads here is tried until it does. */
export function openLink(deps: OpenLinkWith): OpenLink {
  const { api, endpoint, log, routes, objects, namespaces, files, ca } = deps;
  const reviewer = new TokenReviewer(api);
  const failed = (error: unknown) => log.warn({ err: error }, 'the data-plane link');
  const host = new LinkHost({ objects, namespaces, reviewer, files, onError: failed });
  const off = [
    routes.upgrade(LINK_PATH, (request, socket, head) => host.channel.handleUpgrade(request, socket, head)),
    routes.handle(ARTIFACTS, downloads({ objects, namespaces, reviewer, files, failed })),
  ];
  countConnections(deps.registry, host);
  const stopping = new AbortController();
  const writing = keepWriting(api, endpoint, stopping.signal, failed);
  return {
    host,
    linkOf: (project) => operatorLink(project, { ...endpoint, ca: ca() }),
    async close() {
      stopping.abort();
      for (const take of off) take();
      await host.close();
      await writing;
    },
  };
}

/** Retries until it is written: the Service may be created later. */
async function keepWriting(
  api: ApiServer,
  endpoint: LeaderEndpoint,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await writeLeaderEndpoint(api, endpoint);
    } catch (error) {
      failed(error);
      await pause(backoff(failures, BASE_MS, MAX_MS), signal);
    }
  }
}

function countConnections(registry: Registry, host: LinkHost): void {
  const gauges = [
    ['gw_operator_link_connected', 'Data planes that hold the link', () => host.counts().connected],
    ['gw_operator_link_pending', 'Connections that have not been let in', () => host.counts().pending],
    ['gw_operator_link_drifted', 'Those that serve something else than is wanted', () => host.counts().drifted],
    ['gw_operator_link_applied', 'Artifacts that data planes have taken', () => host.counts().appliedTotal],
    ['gw_operator_link_refused', 'Artifacts that data planes have refused', () => host.counts().refusedTotal],
  ] as const;
  for (const [name, help, read] of gauges) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
}
