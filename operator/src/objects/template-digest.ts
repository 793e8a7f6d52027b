import { createHash } from 'node:crypto';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { PodSettings } from './gateway-container.ts';
import { podTemplate } from './pod-template.ts';

/** In the place of every revision. */
const ANY: Revision = { revision: 1, artifactHash: 'sha256:any', archive: 'any', createdAt: '', parts: 1 };

/** What tells templates of pods apart, whatever revision they start with: pods that take artifacts in place keep theirs. */
export function templateDigest(project: GatewayProject, settings: PodSettings): string {
  return createHash('sha256')
    .update(JSON.stringify(podTemplate(project, ANY, settings)))
    .digest('hex')
    .slice(0, 32);
}
