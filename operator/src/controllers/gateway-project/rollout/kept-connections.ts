/**
 * Has clients connect anew when a step of a canary begins: on connections that they keep, none of their requests would
 * ever reach its pods, and nothing could be said of it (D55).
 */
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { GatewayProject } from '../../../api/resources.ts';
import { ADMIN_PORT } from '../../../objects/names.ts';
import { type PodState, postAdmin } from '../pod-state.ts';

/** Has a pod close the connections that are open, each with an answer; `host` is its address. */
export type CloseKept = (host: string) => Promise<void>;

/** Seconds over which they close: clients come back one after another. */
const WITHIN_SECONDS = 5;
const MOST_PROJECTS = 1000;

export const closeKept: CloseKept = (host) =>
  postAdmin(host, ADMIN_PORT, '/connections/close', { within_seconds: WITHIN_SECONDS });

export class KeptConnections {
  readonly #close: CloseKept;
  /** By project, the step for which it was done last: again where the operator has begun anew, which costs little. */
  readonly #done = new BoundedMap<string>(MOST_PROJECTS);

  constructor(close: CloseKept) {
    this.#close = close;
  }

  /** Waits for nobody: a pod that does not do it has its part of the evidence missing, which the status says. */
  at({ metadata, status }: GatewayProject, pods: readonly PodState[]): void {
    const { strategy, phase, revision, step, steppedAt } = status?.rollout ?? {};
    if (strategy !== 'Canary' || phase !== 'Progressing' || steppedAt === undefined) return;
    const [uid, name] = [metadata.uid ?? '', `${revision}/${step}`];
    if (this.#done.get(uid) === name) return;
    this.#done.set(uid, name);
    for (const { host, ready, terminating, canary } of pods) {
      if (ready && !terminating && !canary && host !== undefined) void this.#close(host).catch(() => {});
    }
  }
}
