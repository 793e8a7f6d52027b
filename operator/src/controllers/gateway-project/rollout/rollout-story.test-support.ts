/** One project for tests of the rollout's state machine: each decision is the input of the next. */
import { expect } from 'vitest';
import type { Revision } from '../../../api/gateway-project.ts';
import { gatewayProjects } from '../../../api/resources.ts';
import type { RolloutSpec } from '../../../api/rollout.ts';
import type { PodState } from '../pods/pod-state.ts';
import type { AnalysisResult } from './analysis.ts';
import { decideRollout, type RolloutDecision, type RolloutInput } from './decide-rollout.ts';

const T0 = Date.parse('2026-01-02T03:04:05Z');
export const hash = (revision: number) => `sha256:${String(revision).repeat(64).slice(0, 64)}`;
const revisionOf = (revision: number): Revision => ({
  revision,
  artifactHash: hash(revision),
  archive: String(revision),
  createdAt: '',
  parts: 1,
});
export const R = [1, 2, 3].map(revisionOf);

function specOf(rollout: object = {}): RolloutSpec {
  return gatewayProjects.parse({
    metadata: { name: 'shop' },
    spec: { specs: { selector: {} }, rollout },
  }).spec.rollout;
}

export const pod = (serves: number, more: Partial<PodState> = {}): PodState => ({
  name: `p${serves}`,
  ready: true,
  terminating: false,
  revision: serves,
  serves: hash(serves),
  ...more,
});
export const canaryPod = (serves: number, more: Partial<PodState> = {}) => pod(serves, { canary: true, ...more });
export const starting = (revision: number, more: Partial<PodState> = {}): PodState => ({
  name: `s${revision}`,
  ready: false,
  terminating: false,
  revision,
  ...more,
});

export function analysed(
  verdict: AnalysisResult['verdict'],
  message: string,
  more: Partial<AnalysisResult> = {},
): AnalysisResult {
  return { verdict, message, withoutEvidence: [], worse: [], requests: new Map(), ...more };
}

/** One project over several decisions: each is the input of the next. */
export class Story {
  input: RolloutInput;
  last: RolloutDecision | undefined;

  constructor(rollout: object, more: Partial<RolloutInput> = {}) {
    this.input = {
      spec: specOf(rollout),
      linked: false,
      revisions: R,
      desired: R[0],
      latest: 1,
      generation: 1,
      before: undefined,
      failed: undefined,
      templated: undefined,
      wanted: 2,
      stalled: { stable: false, canary: false },
      pods: [],
      refusals: [],
      faults: [],
      fingerprintOf: () => undefined,
      blameless: false,
      programmedBefore: 0,
      now: new Date(T0),
      ...more,
    };
  }

  /** Decides again, `seconds` later, with changes in the cluster. */
  look(more: Partial<RolloutInput> = {}, seconds = 1): RolloutDecision {
    const { last, input } = this;
    this.input = {
      ...input,
      ...(last
        ? { before: last.status, failed: last.failed, faults: last.faults, templated: last.stable?.revision }
        : {}),
      now: new Date(input.now.getTime() + seconds * 1000),
      ...more,
    };
    this.last = decideRollout(this.input);
    return this.last;
  }

  /** Starts with revision 1 served for a long time. */
  static serving(rollout: object, more: Partial<RolloutInput> = {}): Story {
    const story = new Story(rollout, more);
    story.look({ pods: [pod(1), pod(1)] });
    expect(shown(story.last)).toEqual(['Succeeded', 1, 1, undefined]);
    return story;
  }

  to(revision: number, more: Partial<RolloutInput> = {}, seconds = 1): RolloutDecision {
    return this.look({ desired: R[revision - 1], latest: revision, ...more }, seconds);
  }
}

/** Shows phase, goal, revision of stable pods, and of a canary its revision and pods. */
export function shown(decision: RolloutDecision | undefined) {
  const { status, goal, stable, canary } = decision ?? {};
  return [status?.phase, goal?.revision, stable?.revision, canary && `${canary.revision.revision} x${canary.pods}`];
}

export const reasons = (decision: RolloutDecision | undefined) => decision?.events.map(({ reason }) => reason);
