/** State of a gateway pod: whether it is ready, the artifact that it reports, why it fails. */
import { messageOf } from '@gw/gateway/message-of';
import { readWhole } from '@gw/gateway/read-whole';
import { request } from 'undici';
import type { Pod } from '../../../api/resources.ts';
import { isRecord } from '../../../kube/kube-object.ts';
import { ADMIN_PORT, ANNOTATION_REVISION, CANARY, LABEL_ROLE } from '../../../objects/names.ts';

export interface PodState {
  readonly name: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** The pod belongs to a canary. */
  readonly canary?: boolean;
  /** Revision that it was started with; undefined if its template does not name one. */
  readonly revision?: number;
  /** Address of the pod, once it has one. */
  readonly host?: string;
  /** `artifact_hash` that it reports; undefined when it is not ready or does not answer. */
  readonly serves?: string;
  /** Why a ready pod could not be asked. */
  readonly unreachable?: string;
  /** Why it is not ready, from its containers' status. */
  readonly waiting?: string;
  /** Why it will not become ready by waiting. */
  readonly fails?: string;
}

/** Queries the artifact of a pod; `host` is its address. Throws without an answer. */
export type ProvenanceProbe = (pod: Pod, host: string) => Promise<string>;

const TIMEOUT_MS = 2000;
const MAX_ANSWER = 256 * 1024;

/** Queries the admin port only: the author of a pod chooses the ports in its spec. */
export const probeProvenance: ProvenanceProbe = (_, host) => readProvenance(host, ADMIN_PORT);

/** Reads `artifact_hash` from `/provenance` (docs/decisions.md#programmed-by-provenance). */
export async function readProvenance(host: string, port: number): Promise<string> {
  const body: unknown = JSON.parse(await readAdmin(host, port, '/provenance', MAX_ANSWER));
  const hash = isRecord(body) ? body['artifact_hash'] : undefined;
  if (typeof hash !== 'string') throw new Error('/provenance names no artifact_hash');
  return hash;
}

/** Reads a page of a pod's admin port, of at most `maxBytes`. */
export async function readAdmin(host: string, port: number, path: string, maxBytes: number): Promise<string> {
  const answer = await request(adminUrl(host, port, path), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const body = await readWhole(answer.body, maxBytes, () => new Error(`the answer of ${path} is too large`));
  if (answer.statusCode !== 200) throw new Error(`${path} answers ${answer.statusCode}`);
  return body.toString('utf8');
}

/** Posts to the admin API of a pod; rejects if the pod refuses. */
export async function postAdmin(host: string, port: number, path: string, body: object): Promise<void> {
  const answer = await request(adminUrl(host, port, path), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`${path} answers ${answer.statusCode}`);
}

function adminUrl(host: string, port: number, path: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
}

/** Returns the readiness that the kubelet reports; a pod that is being deleted may still be ready. */
export function reportsReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

/** Returns what the pod waits for: a node, an image, the end of a pause between restarts. */
function waitingOf({ status }: Pod): string | undefined {
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const states = all.flatMap(({ state }) => (state?.waiting ? [state.waiting] : []));
  // Containers wait for earlier ones, whose state gives the reason.
  const telling = states.find(({ reason }) => reason !== 'PodInitializing') ?? states[0];
  const found = unscheduled ?? telling;
  return found && ([found.reason, found.message].filter(Boolean).join(': ') || undefined);
}

export async function podState(pod: Pod, probe: ProvenanceProbe): Promise<PodState> {
  const ready = reportsReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const waiting = waitingOf(pod);
  const fails = ready ? undefined : podFailure(pod);
  const revision = Number(pod.metadata.annotations?.[ANNOTATION_REVISION]);
  const host = pod.status?.podIP;
  const base = {
    name: pod.metadata.name,
    ready,
    terminating,
    ...(pod.metadata.labels?.[LABEL_ROLE] === CANARY ? { canary: true } : {}),
    ...(revision ? { revision } : {}),
    ...(host ? { host } : {}),
    ...(waiting ? { waiting } : {}),
    ...(fails === undefined ? {} : { fails }),
  };
  if (!ready || terminating || !host) return base;
  try {
    return { ...base, serves: await probe(pod, host) };
  } catch (error) {
    return { ...base, unreachable: messageOf(error) };
  }
}

/** Restarts after which a pod that was never ready counts as failed. */
const RESTARTS = 3;
/**
 * Exit code for a secret reference that does not resolve: waiting does not help (docs/reference/gateway.md#secrets).
 */
const EXIT_SECRET = 13;
const MAX_MESSAGE = 500;

/** Describes the failure; undefined while the pod may still become ready. */
function podFailure(pod: Pod): string | undefined {
  for (const { state, lastState, restartCount = 0 } of pod.status?.containerStatuses ?? []) {
    const ended = state?.terminated ?? lastState?.terminated;
    if (ended === undefined || !ended.exitCode) continue;
    const again = ended.exitCode === EXIT_SECRET ? 1 : RESTARTS;
    if (restartCount < again) continue;
    const said = lastWords(ended.message);
    return `it ended with exit code ${ended.exitCode}${said ? `: ${said}` : ''}`;
  }
  return undefined;
}

/** Returns the line with the reason from the end of a log. */
function lastWords(log: string | undefined): string {
  const lines = (log ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.findLast((each) => each.startsWith('gw serve: ')) ?? lines.at(-1) ?? '';
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line;
}
