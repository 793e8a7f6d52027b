/** What a canary measured as bad, over the looks at a project that follow. */
import { describe, expect, it } from 'vitest';
import type { RolloutInput } from './decide-rollout.ts';
import { analysed, canaryPod, hash, pod, Story, shown } from './rollout-story.test-support.ts';

const STEPS = {
  strategy: 'Canary',
  canary: { steps: [{ weight: 50, pauseSeconds: 10 }], watchSeconds: 0, analysis: { minRequests: 10 } },
};
const BAD = analysed('worse', 'POST /a: 100 % of its 40 answers are 5xx', { worse: ['POST /a'] });
const QUIET = analysed('unknown', 'no requests so far');
const requests = (count: number) => analysed('good', 'well', { requests: new Map([['POST /a', count]]) });

/** By artifact: revision 2 and 3 have the same operation, revision 1 another. */
const fingerprintOf: RolloutInput['fingerprintOf'] = (artifactHash) => (artifactHash === hash(1) ? 'good' : 'bad');

/** Revision 2 was aborted for POST /a, and revision 1 is served. */
function aborted(rollout: object = STEPS, more: Partial<RolloutInput> = {}): Story {
  const story = Story.serving(rollout, { fingerprintOf, ...more });
  atStep(story, 2);
  expect(shown(story.look({ analysis: BAD }))[0]).toBe('Aborted');
  expect(story.last?.faults).toMatchObject([{ operation: 'POST /a', fingerprint: 'bad', revision: 2 }]);
  return story;
}

/** All pods of the canary's step are there. */
function atStep(story: Story, revision: number): void {
  story.to(revision, { pods: [pod(1), pod(1)] });
  story.look({ pods: [pod(1), pod(1), canaryPod(revision), canaryPod(revision)], analysis: QUIET });
  expect(story.last?.status).toMatchObject({ phase: 'Progressing', revision, step: 0 });
}

const command = (action: 'retry' | 'promote' | 'abort', revision: number) => ({
  command: { action, revision, id: `${action}-${revision}` },
});

describe('what a canary measured as bad', () => {
  it('does not come back with an edit elsewhere while nobody asks for it', () => {
    const story = aborted();
    atStep(story, 3);
    const look = story.look({ analysis: QUIET }, 3600);
    expect(shown(look)).toEqual(['Progressing', 3, 1, '3 x2']);
    expect(look.status).toMatchObject({ needsEvidence: ['POST /a'], message: expect.stringContaining('are 5xx') });
    expect(look.events.map(({ reason }) => reason)).toEqual(['NeedsEvidence']);
    // It is told once, and waits.
    const later = story.look({ analysis: analysed('good', 'others do well') }, 3600);
    expect([shown(later)[0], later.events]).toEqual(['Progressing', []]);
  });

  it('does not come back with the same revision either, such as after an edit of the project', () => {
    const story = aborted();
    story.look({ generation: 2, pods: [pod(1), pod(1), canaryPod(2), canaryPod(2)], analysis: QUIET });
    story.look({});
    expect(story.look({ analysis: QUIET }, 3600).status).toMatchObject({ revision: 2, needsEvidence: ['POST /a'] });
  });

  it('comes back once requests to it have gone well, and is forgotten then', () => {
    const story = aborted();
    atStep(story, 3);
    story.look({ analysis: requests(9) }, 60);
    expect(story.last?.status?.needsEvidence).toEqual(['POST /a']);
    story.look({ analysis: requests(10) });
    expect(story.last?.status?.needsEvidence).toBeUndefined();
    story.look({ pods: [pod(3), pod(3)] });
    expect([shown(story.last)[0], story.last?.faults]).toEqual(['Succeeded', []]);
  });

  it('is aborted again where requests show it again', () => {
    const story = aborted();
    atStep(story, 3);
    story.look({ analysis: QUIET }, 60);
    expect(shown(story.look({ analysis: BAD }))[0]).toBe('Aborted');
    expect(story.last?.status?.needsEvidence).toBeUndefined();
    expect(story.last?.faults).toMatchObject([{ operation: 'POST /a', revision: 3 }]);
  });

  it('holds nothing once the operation is another, and stays on record', () => {
    const mended = (artifactHash: string, _: string) => (artifactHash === hash(2) ? 'bad' : 'mended');
    const story = aborted(STEPS, { fingerprintOf: mended });
    atStep(story, 3);
    story.look({ analysis: QUIET }, 60);
    story.look({ pods: [pod(3), pod(3)] });
    expect([shown(story.last)[0], story.last?.faults.length]).toEqual(['Succeeded', 1]);
  });

  it('holds what cannot be read', () => {
    const story = aborted();
    atStep(story, 3);
    const look = story.look({ analysis: QUIET, fingerprintOf: () => undefined }, 60);
    expect(look.status?.needsEvidence).toEqual(['POST /a']);
  });

  it.each(['retry', 'promote'] as const)('is cleared by the word of a person: %s', (action) => {
    const story = aborted();
    atStep(story, 3);
    story.look({ analysis: QUIET }, 60);
    const look = story.look({ ...command(action, 3), analysis: QUIET });
    expect([look.faults, look.status?.needsEvidence]).toEqual([[], undefined]);
    // A retry goes through its steps again, a promotion goes on.
    expect(look.status?.step).toBe(action === 'retry' ? 0 : 1);
  });

  it('is not cleared by a word about another revision', () => {
    const story = aborted();
    atStep(story, 3);
    expect(story.look({ ...command('promote', 1), analysis: QUIET }, 60).faults.length).toBe(1);
  });

  it.each(['Rolling', 'InPlace'])('does not come back by strategy %s, which measures nothing', (strategy) => {
    const story = aborted();
    const spec = { ...story.input.spec, strategy: strategy as 'Rolling' };
    const held = story.to(3, { spec, generation: 2, linked: true, pods: [pod(1), pod(1)] });
    expect(shown(held)).toEqual(['Progressing', 1, 1, undefined]);
    expect(held.status).toMatchObject({ revision: 3, needsEvidence: ['POST /a'] });
    expect(story.look({}, 3600).events).toEqual([]);
    const pardoned = story.look({ ...command('retry', 3) });
    expect([shown(pardoned), pardoned.faults]).toEqual([['Progressing', 3, 3, undefined], []]);
  });

  it('is measured once the strategy is Canary again, and may be called off while it is held', () => {
    const story = aborted();
    const canary = story.input.spec;
    const look = story.to(3, { spec: { ...canary, strategy: 'Rolling' }, generation: 2, pods: [pod(1), pod(1)] });
    expect(look.status?.needsEvidence).toEqual(['POST /a']);
    expect(story.look({ spec: canary, generation: 3 }).status).toMatchObject({ strategy: 'Canary', step: 0 });
    story.look({ spec: { ...canary, strategy: 'Rolling' }, generation: 4 });
    const other = aborted();
    other.to(3, { spec: { ...canary, strategy: 'Rolling' }, generation: 2, pods: [pod(1), pod(1)] });
    expect(other.look({ ...command('abort', 3) }).status?.phase).toBe('Aborted');
  });

  it('never holds a way back', () => {
    const story = aborted();
    const back = story.to(1, { generation: 2 });
    expect(back.status?.needsEvidence).toBeUndefined();
    expect(shown(back)[1]).toBe(1);
  });
});
