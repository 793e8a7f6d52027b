/** Measurements of canaries: the answers of each pod since the step began. */
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { RolloutSpec } from '../../../api/rollout.ts';
import { type AnalysisResult, analyse } from './analysis.ts';
import { NOTHING, readSample, type Sample, since, sum } from './sample.ts';

export interface MeasuredPod {
  /** Uid of the pod. */
  readonly id: string;
  readonly canary: boolean;
  /** Reads its `/metrics`. */
  read(): Promise<string>;
}

interface Step {
  readonly name: string;
  /** Counts by pod at the beginning of the step; a later pod began with zero. */
  readonly before: ReadonlyMap<string, Sample>;
  readAt: number;
  result: AnalysisResult;
}

/** Milliseconds between looking at the pods. */
const EVERY_MS = 2000;
const MOST_PROJECTS = 1000;

export class Measurements {
  readonly #steps = new BoundedMap<Step>(MOST_PROJECTS);

  /**
   * Analyses the step `name` of a project's canary since its first call: after a restart of the operator in the middle
   * of it, from then on. Pods that do not answer are left out.
   */
  async analyse(
    project: string,
    name: string,
    pods: readonly MeasuredPod[],
    spec: RolloutSpec,
    now: number,
  ): Promise<AnalysisResult> {
    const known = this.#steps.get(project);
    const current = known?.name === name ? known : undefined;
    if (current && now - current.readAt < EVERY_MS) return current.result;
    const read = await Promise.all(pods.map((pod) => sampleOf(pod)));
    const samples = read.filter((sample) => sample !== undefined);
    if (!current) {
      const before = new Map(samples.map(({ pod, sample }) => [pod.id, sample]));
      const result = analyse(spec, NOTHING, NOTHING);
      this.#steps.set(project, { name, before, readAt: now, result });
      return result;
    }
    const of = (canary: boolean) =>
      sum(
        samples
          .filter(({ pod }) => pod.canary === canary)
          .map(({ pod, sample }) => since(sample, current.before.get(pod.id) ?? NOTHING)),
      );
    current.result = analyse(spec, of(true), of(false));
    current.readAt = now;
    return current.result;
  }
}

async function sampleOf(pod: MeasuredPod): Promise<{ pod: MeasuredPod; sample: Sample } | undefined> {
  try {
    return { pod, sample: readSample(await pod.read()) };
  } catch {
    // A pod that does not answer is soon reported as not ready, which the rollout sees.
    return undefined;
  }
}
