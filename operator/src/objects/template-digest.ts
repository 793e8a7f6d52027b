import { createHash } from 'node:crypto';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { PodSettings } from './gateway-container.ts';
import { podTemplate } from './pod-template.ts';

/** Hexadecimal digits of a digest that stands in an annotation. */
const DIGITS = 32;

/** Placeholder for every revision. */
const ANY: Revision = { revision: 1, artifactHash: 'sha256:any', archive: 'any', createdAt: '', parts: 1 };

/** Returns a digest of the pod template that ignores its revision: pods that take artifacts in place keep theirs. */
export function templateDigest(project: GatewayProject, settings: PodSettings): string {
  return digestOf(podTemplate(project, ANY, settings));
}

/** Returns a digest of the project's and its Secrets' settings: if it is equal, the operator changed the template. */
export function askedDigest({ metadata }: GatewayProject, { secretsVersion, trustedKeys }: PodSettings): string {
  return digestOf([metadata.generation, secretsVersion, trustedKeys]);
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, DIGITS);
}
