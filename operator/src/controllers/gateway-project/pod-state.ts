/** What a gateway pod is doing: ready or not, and which artifact it says that it serves. */
import { request } from 'undici';
import type { Pod } from '../../api/resources.ts';
import { ADMIN_PORT } from '../../objects/names.ts';
import { isRecord } from '../../runtime/kube-object.ts';

export interface PodState {
  readonly name: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** `artifact_hash` that it reports; undefined when it is not ready or does not answer. */
  readonly serves?: string;
  /** Why a ready pod could not be asked. */
  readonly unreachable?: string;
  /** Why it is not ready, as far as its containers say. */
  readonly waiting?: string;
}

/** Asks a pod what it serves; `host` is its address. Throws when there is no answer. */
export type ProvenanceProbe = (pod: Pod, host: string) => Promise<string>;

const TIMEOUT_MS = 2000;
const MAX_ANSWER = 256 * 1024;

/** Asks the admin port, and no other: what a pod says of its ports is its author's to choose. */
export const probeProvenance: ProvenanceProbe = (_, host) => readProvenance(host, ADMIN_PORT);

/** Reads `artifact_hash` from `/provenance` (D38). */
export async function readProvenance(host: string, port: number): Promise<string> {
  const address = host.includes(':') ? `[${host}]` : host;
  const answer = await request(`http://${address}:${port}/provenance`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_ANSWER) throw new Error('the answer of /provenance is too large');
    chunks.push(bytes);
  }
  if (answer.statusCode !== 200) throw new Error(`/provenance answers ${answer.statusCode}`);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const hash = isRecord(body) ? body['artifact_hash'] : undefined;
  if (typeof hash !== 'string') throw new Error('/provenance names no artifact_hash');
  return hash;
}

export async function podState(pod: Pod, probe: ProvenanceProbe): Promise<PodState> {
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const waiting = pod.status?.containerStatuses
    ?.map(({ state }) => state?.waiting)
    .find((state) => state !== undefined);
  const base = {
    name: pod.metadata.name,
    ready,
    terminating,
    ...(waiting ? { waiting: [waiting.reason, waiting.message].filter(Boolean).join(': ') } : {}),
  };
  const host = pod.status?.podIP;
  if (!ready || terminating || !host) return base;
  try {
    return { ...base, serves: await probe(pod, host) };
  } catch (error) {
    return { ...base, unreachable: error instanceof Error ? error.message : String(error) };
  }
}
