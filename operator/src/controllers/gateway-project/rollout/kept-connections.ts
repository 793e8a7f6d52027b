/**
 * Has clients reconnect when a step of a canary begins: requests on kept-alive connections would never reach its pods,
 * and it could not be measured (docs/decisions.md#canary-evidence).
 */
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { GatewayProject } from '../../../api/resources.ts';
import { ADMIN_PORT } from '../../../objects/names.ts';
import { type PodState, postAdmin } from '../pods/pod-state.ts';
import { stepName } from './canary.ts';

/** Has a pod close the connections that are open, each with an answer; `host` is its address. */
export type CloseKept = (host: string) => Promise<void>;

/** Seconds over which they close: clients come back one after another. */
const WITHIN_SECONDS = 5;
/**
 * Milliseconds between repeats while operations lack evidence: clients with few connections may reconnect to other
 * pods.
 */
const AGAIN_MS = 15_000;
const MOST_PROJECTS = 1000;

export const closeKept: CloseKept = (host) =>
  postAdmin(host, ADMIN_PORT, '/connections/close', { within_seconds: WITHIN_SECONDS });

export class KeptConnections {
  readonly #close: CloseKept;
  /** The last step and its time, by project. A restarted operator does it again, which costs little. */
  readonly #done = new BoundedMap<{ readonly step: string; readonly at: number }>(MOST_PROJECTS);

  constructor(close: CloseKept) {
    this.#close = close;
  }

  /** Does not wait: if a pod does not do it, its part of the evidence is missing, which the status shows. */
  at({ metadata, status }: GatewayProject, pods: readonly PodState[], now: number): void {
    const rollout = status?.rollout;
    if (rollout?.strategy !== 'Canary' || rollout.phase !== 'Progressing' || rollout.steppedAt === undefined) return;
    const { withoutEvidence = [] } = rollout;
    const [uid, step] = [metadata.uid ?? '', stepName(rollout)];
    const last = this.#done.get(uid);
    if (last?.step === step && (withoutEvidence.length === 0 || now - last.at < AGAIN_MS)) return;
    this.#done.set(uid, { step, at: now });
    for (const { host, ready, terminating, canary } of pods) {
      if (ready && !terminating && !canary && host !== undefined) void this.#close(host).catch(() => {});
    }
  }
}
