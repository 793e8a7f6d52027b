/** Publishes artifacts of the cluster at a control plane, and requests deployments. */
import type { ControlClient } from '@gw/control/client';
import { idOf, type LatestDeployment, shownDeployment } from './answers.ts';

/** An artifact of the cluster. */
export interface Publishable {
  readonly artifactHash: string;
  /** Public key in hex; absent: not signed. */
  readonly signedBy?: string;
  /** Built for production (docs/decisions.md#production-builds). */
  readonly production: boolean;
  /** Returns the .gwa; called only if the control plane lacks it. */
  archive(): Promise<Uint8Array>;
}

/** Milliseconds for a file of many megabytes. */
const UPLOAD_MS = 300_000;

/**
 * Returns the id of the artifact at the control plane; imports it if it is missing. Throws if the import yields another
 * artifact.
 */
export async function published(client: ControlClient, projectId: string, wanted: Publishable): Promise<string> {
  const known = await knownAs(client, projectId, wanted);
  if (known !== null) return known;
  const file = new File([new Uint8Array(await wanted.archive())], 'project.gwa');
  const form = { production: wanted.production ? 'true' : 'false', file } as const;
  const signal = AbortSignal.timeout(UPLOAD_MS);
  const made = await client.call('artifacts.import', { params: { id: projectId }, form }, { signal });
  if (made.artifact_hash === wanted.artifactHash) return made.id;
  throw new Error(`the artifact ${wanted.artifactHash} has another hash there: it is not deployed`);
}

async function knownAs(client: ControlClient, id: string, wanted: Publishable): Promise<string | null> {
  const { artifactHash: artifact_hash, signedBy, production } = wanted;
  const found = await client.list('artifacts.listOfProject', { params: { id }, query: { artifact_hash } });
  for (const artifact of found) {
    if (artifact.production !== production || artifact.signed !== (signedBy !== undefined)) continue;
    if (signedBy === undefined) return artifact.id;
    const { manifest } = await client.call('artifacts.get', { params: { id: artifact.id } });
    if (manifest['signing_public_key'] === signedBy) return artifact.id;
  }
  return null;
}

/** Returns the latest deployment of the project, null before the first. */
export async function latestDeployment(client: ControlClient, id: string): Promise<LatestDeployment | null> {
  const [latest] = await client.list('deployments.list', { params: { id } }, { limit: 1 });
  return latest ? shownDeployment(latest) : null;
}

/**
 * Requests a deployment and returns its id. `once` names the request: repeated, as after a crash, it returns the same
 * id.
 */
export async function deploy(client: ControlClient, id: string, artifact_id: string, once: string): Promise<string> {
  const headers = { 'idempotency-key': once };
  const input = { params: { id }, body: { artifact_id } };
  const { deployment_id } = await client.call('deployments.deploy', input, { headers });
  return idOf(deployment_id);
}
