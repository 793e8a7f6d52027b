/** Artifacts of the cluster at a control plane, and what it is told to deploy. */
import type { Api, Artifact, ArtifactDetail, Deployment } from '@gw/control/client';
import { idOf, type LatestDeployment, shownDeployment } from './answers.ts';

/** An artifact as the cluster has it. */
export interface Publishable {
  readonly artifactHash: string;
  /** Public key in hex; absent: not signed. */
  readonly signedBy?: string;
  /** Built for production (docs/decisions.md#production-builds). */
  readonly production: boolean;
  /** The .gwa; asked for only where the control plane lacks it. */
  archive(): Promise<Uint8Array>;
}

/** Milliseconds for a file of many megabytes. */
const UPLOAD_MS = 300_000;

/** The id that the artifact has there, as it is: imported where it is missing. Throws where it is another then. */
export async function published(api: Api, projectId: string, wanted: Publishable): Promise<string> {
  const known = await knownAs(api, projectId, wanted);
  if (known !== null) return known;
  const form = new FormData();
  form.append('production', String(wanted.production));
  form.append('file', new Blob([new Uint8Array(await wanted.archive())]), 'project.gwa');
  const signal = AbortSignal.timeout(UPLOAD_MS);
  const made = await api.json<Artifact>(`/projects/${projectId}/artifacts`, { method: 'POST', form, signal });
  if (made.artifact_hash === wanted.artifactHash) return made.id;
  throw new Error(`the artifact ${wanted.artifactHash} has another hash there: it is not deployed`);
}

async function knownAs(api: Api, projectId: string, wanted: Publishable): Promise<string | null> {
  const { artifactHash: artifact_hash, signedBy, production } = wanted;
  const found = await api.list<Artifact>(`/projects/${projectId}/artifacts`, { query: { artifact_hash } });
  for (const artifact of found) {
    if (artifact.production !== production || artifact.signed !== (signedBy !== undefined)) continue;
    if (signedBy === undefined) return artifact.id;
    const { manifest } = await api.json<ArtifactDetail>(`/artifacts/${artifact.id}`);
    if (manifest['signing_public_key'] === signedBy) return artifact.id;
  }
  return null;
}

/** The latest deployment of the project, null before the first. */
export async function latestDeployment(api: Api, projectId: string): Promise<LatestDeployment | null> {
  const [latest] = await api.list<Deployment>(`/projects/${projectId}/deployments`, {}, 1);
  return latest ? shownDeployment(latest) : null;
}

/** `once` names this wish: asked for again, as after a crash, it is answered with the same deployment. Gives its id. */
export async function deploy(api: Api, projectId: string, artifact_id: string, once: string): Promise<string> {
  const { deployment_id } = await api.json<Pick<Deployment, 'deployment_id'>>(`/projects/${projectId}/deploy`, {
    method: 'POST',
    json: { artifact_id },
    headers: { 'idempotency-key': once },
  });
  return idOf(deployment_id);
}
