/** Number of pods of a canary, and results that its measurements allow. Pure. */
import type { RolloutSpec, RolloutStatus } from '../../../api/rollout.ts';

export interface CanaryStep {
  /** Percent of the pods. */
  readonly weight: number;
  readonly pauseSeconds: number;
}

const DEFAULT_STEPS: readonly CanaryStep[] = [10, 25, 50].map((weight) => ({ weight, pauseSeconds: 60 }));

export function canarySteps({ canary }: RolloutSpec): readonly CanaryStep[] {
  return canary.steps ?? DEFAULT_STEPS;
}

/**
 * Returns the number of canary pods beside `others` that makes their share of all. The others stay, so that an abort
 * removes no stable pod: at most as many canary pods as others, and at least one.
 */
export function canaryPods(weight: number, others: number): number {
  const exact = (others * weight) / (100 - weight);
  return Math.max(1, Math.min(others, Math.round(exact)));
}

/** Names a step, of this canary and of others: each step begins new measurements. */
export function stepName({ revision, step, watching }: RolloutStatus): string {
  return `${revision}/${watching ? 'watch' : step}`;
}

/** Returns the canary's share in percent, for people. */
export function shareOf(canary: number, others: number): number {
  return canary + others === 0 ? 0 : Math.round((100 * canary) / (canary + others));
}
