/**
 * Remembers the artifacts that pods reported. A pod is queried again after it has changed, while its project is not
 * programmed (a rollout may reach it without changing the pod), and every ten minutes.
 */
import type { Pod } from '../../../api/resources.ts';
import type { ProvenanceProbe } from './pod-state.ts';

const GOOD_FOR_MS = 10 * 60_000;

interface Answer {
  readonly version: string | undefined;
  readonly at: number;
  readonly hash: string;
}

export class ProvenanceMemory {
  readonly #probe: ProvenanceProbe;
  /** Answers by project, then by the uid of the pod. */
  readonly #answers = new Map<string, Map<string, Answer>>();

  constructor(probe: ProvenanceProbe) {
    this.#probe = probe;
  }

  /** Returns the probe for one reconcile of the project `key`; drops pods that the reconcile does not query. */
  of(key: string): ProvenanceProbe {
    const before = this.#answers.get(key) ?? new Map<string, Answer>();
    const now = new Map<string, Answer>();
    this.#answers.set(key, now);
    return async (pod, host) => {
      const answer = fresh(before.get(pod.metadata.uid ?? ''), pod) ?? {
        version: pod.metadata.resourceVersion,
        at: performance.now(),
        hash: await this.#probe(pod, host),
      };
      now.set(pod.metadata.uid ?? '', answer);
      return answer.hash;
    };
  }

  /** Drops the answers of a project that is not programmed, or was deleted: its pods are queried again. */
  forget(key: string): void {
    this.#answers.delete(key);
  }
}

function fresh(answer: Answer | undefined, pod: Pod): Answer | undefined {
  if (!answer || answer.version !== pod.metadata.resourceVersion) return undefined;
  return performance.now() - answer.at < GOOD_FOR_MS ? answer : undefined;
}
