/** The rollout's state machine, as tables and as stories of what happens one look after another. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { canaryPods } from './canary.ts';
import type { RolloutAction } from './command.ts';
import { decideRollout, type RolloutInput } from './decide-rollout.ts';
import { analysed, canaryPod, hash, pod, R, reasons, Story, shown, starting } from './rollout-story.test-support.ts';

describe('rolling', () => {
  it('the first revision is rolled out, without anything to go back to', () => {
    const story = new Story({});
    expect(shown(story.look())).toEqual(['Progressing', 1, 1, undefined]);
    expect(story.last?.status?.from).toBeUndefined();
    expect(shown(story.look({ pods: [pod(1)] }))).toEqual(['Progressing', 1, 1, undefined]);
    expect(shown(story.look({ pods: [pod(1), pod(1)] }))).toEqual(['Succeeded', 1, 1, undefined]);
  });

  it('succeeds when every ready pod serves it, and there are enough', () => {
    const story = Story.serving({});
    expect(shown(story.to(2))).toEqual(['Progressing', 2, 2, undefined]);
    expect(shown(story.look({ pods: [pod(1), pod(2), pod(2)] }))).toEqual(['Progressing', 2, 2, undefined]);
    expect(shown(story.look({ pods: [pod(1, { terminating: true }), pod(2), pod(2)] }))[0]).toBe('Succeeded');
    expect(story.last?.requeueAfterMs).toBeUndefined();
  });

  it.each([
    ['its pods end again and again', { pods: [pod(1), starting(2, { fails: 'it ended with exit code 1' })] }],
    ['it makes no progress', { stalled: { stable: true, canary: false } }],
  ])('returns to the last good one where %s, once that is written down', (_, trouble) => {
    const story = Story.serving({});
    story.to(2);
    const failing = story.look(trouble);
    // Nothing is done in the look that finds it: whoever goes on finds what was decided.
    expect(shown(failing)).toEqual(['Failed', 2, 2, undefined]);
    expect(failing.failed).toMatchObject({ revision: 2, generation: 1 });
    expect([reasons(failing), failing.requeueAfterMs]).toEqual([['RolledBack'], 0]);
    const returned = story.look({ stalled: { stable: false, canary: false }, pods: [pod(1), pod(1)] });
    expect(shown(returned)).toEqual(['Failed', 1, 1, undefined]);
    expect([returned.failed?.revision, reasons(returned)]).toEqual([2, []]);
  });

  it.each<[string, Partial<RolloutInput>, boolean]>([
    ['nothing changes', {}, false],
    ['another compiles', { desired: R[2], latest: 3 }, true],
    ['the spec changes', { generation: 2 }, true],
    ['a Deployment asks for it', { asking: { revision: 2, id: 'uid/1' } }, true],
    ['a Deployment asks for another', { desired: R[0], asking: { revision: 1, id: 'uid/1' } }, false],
  ])('does not try what failed again while %s', (_, change, tried) => {
    const story = Story.serving({});
    story.to(2);
    story.look({ stalled: { stable: true, canary: false } });
    story.look({ stalled: { stable: false, canary: false } });
    const after = story.look(change);
    expect(after.status?.phase === 'Progressing' && after.goal?.revision !== 1).toBe(tried);
  });

  it('the Deployment that asked for what failed does not ask again by being there', () => {
    const story = Story.serving({});
    const asking = { revision: 2, id: 'uid/1' };
    story.to(2, { asking });
    story.look({ stalled: { stable: true, canary: false } });
    expect(shown(story.look({ stalled: { stable: false, canary: false } }))).toEqual(['Failed', 1, 1, undefined]);
    expect(shown(story.look())).toEqual(['Failed', 1, 1, undefined]);
    expect(shown(story.look({ asking: { revision: 2, id: 'uid/2' } }))).toEqual(['Progressing', 2, 2, undefined]);
  });

  it('stays where it is where automaticRollback is off, and succeeds if it comes up after all', () => {
    const story = Story.serving({ automaticRollback: false });
    story.to(2);
    const failing = story.look({ stalled: { stable: true, canary: false } });
    expect([shown(failing), failing.failed, reasons(failing)]).toEqual([
      ['Failed', 2, 2, undefined],
      undefined,
      ['RolloutFailed'],
    ]);
    expect(reasons(story.look())).toEqual([]);
    expect(shown(story.look({ pods: [pod(2), pod(2)] }))).toEqual(['Succeeded', 2, 2, undefined]);
  });

  it('the first revision that fails stays, there is nothing to go back to', () => {
    const story = new Story({});
    story.look();
    expect(shown(story.look({ stalled: { stable: true, canary: false } }))).toEqual(['Failed', 1, 1, undefined]);
    expect(story.last?.failed).toBeUndefined();
  });

  it('goes back to what was good, not to what was on its way, where a newer one fails', () => {
    const story = Story.serving({});
    story.to(2);
    story.to(3, { pods: [pod(1), pod(2)] });
    story.look({ stalled: { stable: true, canary: false } });
    expect(shown(story.look({ stalled: { stable: false, canary: false } }))).toEqual(['Failed', 1, 1, undefined]);
  });

  it('what failed is tried again when a Secret of the pods has changed', () => {
    const story = Story.serving({}, { secrets: 'before' });
    story.to(2, { pods: [pod(1), pod(1), starting(2, { fails: 'it ended with exit code 13' })] });
    expect(shown(story.look({ pods: [pod(1), pod(1)] }))).toEqual(['Failed', 1, 1, undefined]);
    expect(story.last?.failed).toMatchObject({ revision: 2, secrets: 'before' });
    expect(shown(story.look({}, 100))).toEqual(['Failed', 1, 1, undefined]);
    expect(shown(story.look({ secrets: 'after' }))).toEqual(['Progressing', 2, 2, undefined]);
    expect(story.last?.failed).toBeUndefined();
    expect(shown(story.look({ pods: [pod(2), pod(2)] }))[0]).toBe('Succeeded');
  });

  it('what succeeded without pods is rolled out with the first ones, and a failure returns to what pods had served', () => {
    const story = Story.serving({});
    story.look({ wanted: 0, pods: [] });
    expect(story.last?.status).toMatchObject({ phase: 'Succeeded', revision: 1 });
    expect(story.last?.status?.unserved).toBeUndefined();
    for (const revision of [2, 3]) {
      story.to(revision);
      expect(story.last?.status).toMatchObject({ phase: 'Succeeded', revision, from: 1, unserved: true });
      expect(story.last?.requeueAfterMs).toBeUndefined();
    }
    const scaled = story.look({ wanted: 2 });
    expect(shown(scaled)).toEqual(['Progressing', 3, 3, undefined]);
    expect(scaled.status).toMatchObject({ from: 1, unserved: true });
    const failing = story.look({ pods: [starting(3, { fails: 'it ended with exit code 13' })] });
    expect([shown(failing), reasons(failing)]).toEqual([['Failed', 3, 3, undefined], ['RolledBack']]);
    expect(shown(story.look({ pods: [pod(1), pod(1)] }))).toEqual(['Failed', 1, 1, undefined]);
  });

  it('what succeeded without pods is good once pods serve it', () => {
    const story = Story.serving({});
    story.to(2, { wanted: 0, pods: [] });
    story.look({ wanted: 2 });
    story.look({ pods: [pod(2), pod(2)] });
    expect(story.last?.status).toMatchObject({ phase: 'Succeeded', revision: 2 });
    expect(story.last?.status?.unserved).toBeUndefined();
    story.to(3);
    expect(story.last?.status?.from).toBe(2);
  });

  it('a rollout that is called off is a rollout back', () => {
    const story = Story.serving({});
    story.to(2, { pods: [pod(1), pod(2)] });
    expect(shown(story.look({ desired: R[0] }))).toEqual(['Progressing', 1, 1, undefined]);
    expect(shown(story.look({ pods: [pod(1), pod(1)] }))[0]).toBe('Succeeded');
  });
});

describe('a canary', () => {
  const STEPS = {
    strategy: 'Canary',
    canary: {
      steps: [
        { weight: 25, pauseSeconds: 10 },
        { weight: 50, pauseSeconds: 20 },
      ],
      watchSeconds: 0,
    },
  };
  const stable = [pod(1), pod(1), pod(1), pod(1)];
  /** Revision 1 is served by four pods. */
  const serving = () => {
    const story = new Story(STEPS, { wanted: 4 });
    story.look({ pods: stable });
    return story;
  };

  it('has its share of pods beside the others, step by step, and is promoted', () => {
    const story = serving();
    expect(shown(story.to(2))).toEqual(['Progressing', 2, 1, '2 x1']);
    expect(shown(story.look({ pods: [...stable, starting(2, { canary: true })] }))).toEqual([
      'Progressing',
      2,
      1,
      '2 x1',
    ]);
    // The pause begins when the step has all its pods.
    expect(story.look({ pods: [...stable, canaryPod(2)] }, 100).status).toMatchObject({ step: 0, share: 20 });
    expect(story.look({}, 9).status).toMatchObject({ step: 0, weight: 25 });
    expect(story.look({}, 1).status).toMatchObject({ step: 1, weight: 50 });
    expect(reasons(story.last)).toEqual(['CanaryStep']);
    expect(shown(story.look())).toEqual(['Progressing', 2, 1, '2 x4']);
    const four = Array.from({ length: 4 }, () => canaryPod(2));
    expect(story.look({ pods: [...stable, ...four] }).status).toMatchObject({ step: 1, share: 50 });
    story.look({}, 20);
    // Promoted: the others get it, and the canary goes when they have it.
    expect(shown(story.look())).toEqual(['Progressing', 2, 2, '2 x4']);
    expect(shown(story.look({ pods: [pod(1), pod(2), pod(2), pod(2), ...four] }))).toEqual([
      'Progressing',
      2,
      2,
      '2 x4',
    ]);
    expect(shown(story.look({ pods: [pod(2), pod(2), pod(2), pod(2), ...four] }))).toEqual(['Succeeded', 2, 2, '2 x4']);
    expect(shown(story.look())).toEqual(['Succeeded', 2, 2, undefined]);
  });

  it.each<[string, Partial<RolloutInput>]>([
    ['it is measured to be worse', { analysis: analysed('worse', '9 % of its answers are 5xx') }],
    ['its pods fail', { pods: [...stable, starting(2, { canary: true, fails: 'it ended with exit code 13' })] }],
    ['its pods do not come up', { stalled: { stable: false, canary: true } }],
  ])('is aborted where %s: it goes, and the others are not touched', (_, trouble) => {
    const story = serving();
    story.to(2);
    story.look({ pods: [...stable, canaryPod(2)] });
    const aborted = story.look(trouble);
    expect(shown(aborted)).toEqual(['Aborted', 2, 1, '2 x1']);
    expect([reasons(aborted), aborted.failed?.revision]).toEqual([['CanaryAborted'], 2]);
    const { analysis: _analysis, ...rest } = story.input;
    story.input = rest;
    const after = story.look({ pods: stable, stalled: { stable: false, canary: false } });
    expect(shown(after)).toEqual(['Aborted', 1, 1, undefined]);
    expect(shown(story.look({}, 1000))).toEqual(['Aborted', 1, 1, undefined]);
  });

  it('is aborted even where automaticRollback is off', () => {
    const story = new Story({ ...STEPS, automaticRollback: false }, { wanted: 4 });
    story.look({ pods: stable });
    story.to(2);
    story.look({ stalled: { stable: false, canary: true } });
    expect(shown(story.look({ stalled: { stable: false, canary: false } }))).toEqual(['Aborted', 1, 1, undefined]);
  });

  it('passes a step without evidence, and names the operations', () => {
    const story = serving();
    story.to(2);
    story.look({ pods: [...stable, canaryPod(2)] });
    const analysis = analysed('unknown', 'too few', { withoutEvidence: ['POST /a'] });
    expect(story.look({ analysis }).status).toMatchObject({ step: 0, withoutEvidence: ['POST /a'] });
    expect(story.look({ analysis }, 10).status?.step).toBe(1);
  });

  it('waits for evidence where the project says so, and goes on when it is there', () => {
    const canary = { ...STEPS.canary, analysis: { requireEvidence: true } };
    const story = new Story({ ...STEPS, canary }, { wanted: 4 });
    story.look({ pods: stable });
    story.to(2);
    story.look({ pods: [...stable, canaryPod(2)] });
    // Nobody has looked yet.
    expect(story.look({}, 1000).status).toMatchObject({ step: 0, message: expect.stringContaining('requireEvidence') });
    const analysis = analysed('good', 'too few of POST /a', { withoutEvidence: ['POST /a'] });
    expect(story.look({ analysis }, 1000).status).toMatchObject({ step: 0, withoutEvidence: ['POST /a'] });
    expect(story.look({ analysis: { ...analysis, withoutEvidence: [] } }).status?.step).toBe(1);
  });

  describe('that was promoted', () => {
    const four = Array.from({ length: 4 }, () => pod(2));
    /** All stable pods serve it. */
    const promoted = () => {
      const story = new Story({ ...STEPS, canary: { ...STEPS.canary, watchSeconds: 30 } }, { wanted: 4 });
      story.look({ pods: stable });
      story.to(2);
      story.look({ command: { action: 'promote-full', revision: 2, id: 'a' } });
      story.look({ pods: [...four, canaryPod(2)] });
      return story;
    };

    it('is watched beside a pod of the revision before, and then alone', () => {
      const story = promoted();
      expect(story.last?.status).toMatchObject({ phase: 'Progressing', watching: true });
      expect(shown(story.look())).toEqual(['Progressing', 2, 2, '1 x1']);
      expect(story.last?.status?.steppedAt).toBeUndefined();
      expect(shown(story.look({ pods: [...four, canaryPod(1)] }))).toEqual(['Progressing', 2, 2, '1 x1']);
      expect(story.last?.status?.steppedAt).toBeDefined();
      expect(shown(story.look({}, 29))).toEqual(['Progressing', 2, 2, '1 x1']);
      expect(shown(story.look({}, 1))).toEqual(['Succeeded', 2, 2, undefined]);
      expect(story.last?.status?.watching).toBeUndefined();
    });

    it('goes back where it does worse than that', () => {
      const story = promoted();
      story.look({ pods: [...four, canaryPod(1)] });
      const analysis = analysed('worse', 'POST /a');
      expect(shown(story.look({ analysis }))).toEqual(['Aborted', 2, 2, '1 x1']);
      const { analysis: _, ...rest } = story.input;
      story.input = rest;
      expect(shown(story.look())).toEqual(['Aborted', 1, 1, undefined]);
      expect(story.last?.failed).toMatchObject({ revision: 2, message: 'POST /a' });
    });

    it('is what a newer revision begins from, and goes back to', () => {
      const story = promoted();
      story.look({ pods: [...four, canaryPod(1)] });
      expect(shown(story.to(3))).toEqual(['Progressing', 3, 2, '3 x1']);
      expect(story.last?.status).toMatchObject({ step: 0, from: 2 });
      expect(story.last?.status?.watching).toBeUndefined();
      story.look({ stalled: { stable: false, canary: true } });
      expect(shown(story.look({ stalled: { stable: false, canary: false } }))).toEqual(['Aborted', 2, 2, undefined]);
    });

    it('waits no longer than the deadline for pods of the revision before, and not where a person says so', () => {
      expect(shown(promoted().look({ pods: four }, 200))).toEqual(['Succeeded', 2, 2, undefined]);
      const command = { action: 'promote', revision: 2, id: 'b' } as const;
      expect(shown(promoted().look({ command }))).toEqual(['Succeeded', 2, 2, undefined]);
    });
  });

  describe('by hand', () => {
    const ask = (action: RolloutAction, id: string, revision = 2) => ({ command: { action, revision, id } });
    const atStep = () => {
      const story = serving();
      story.to(2);
      story.look({ pods: [...stable, canaryPod(2)] });
      return story;
    };

    it('is paused at its step, until it is promoted: by a step, or to all pods', () => {
      const story = atStep();
      expect(story.look(ask('pause', 'a')).status).toMatchObject({ paused: true, asked: 'a', step: 0 });
      expect(story.look({}, 1000).status).toMatchObject({
        paused: true,
        step: 0,
        message: expect.stringContaining('; paused'),
      });
      expect(story.look(ask('promote', 'b')).status).toMatchObject({ asked: 'b', step: 1 });
      expect(story.last?.status?.paused).toBeUndefined();
      // Once.
      expect(story.look({}).status?.step).toBe(1);
      expect(story.look(ask('promote-full', 'c')).status).toMatchObject({ asked: 'c', step: 2, weight: 100 });
    });

    it('is still aborted where it does worse while it is paused', () => {
      const story = atStep();
      story.look(ask('pause', 'a'));
      const analysis = analysed('worse', 'POST /a');
      expect(shown(story.look({ analysis }))).toEqual(['Aborted', 2, 1, '2 x1']);
    });

    it('is aborted, and tried again', () => {
      const story = atStep();
      expect(shown(story.look(ask('abort', 'a')))).toEqual(['Aborted', 2, 1, '2 x1']);
      expect(story.last?.failed?.message).toBe('it was aborted manually');
      expect(shown(story.look({ pods: stable }))).toEqual(['Aborted', 1, 1, undefined]);
      expect(shown(story.look(ask('retry', 'b')))).toEqual(['Progressing', 2, 1, '2 x1']);
      expect([story.last?.status?.asked, story.last?.failed]).toEqual(['b', undefined]);
    });

    it('is not what was asked of another revision', () => {
      const story = atStep();
      expect(story.look(ask('abort', 'a', 1)).status).toMatchObject({ phase: 'Progressing', asked: 'a' });
    });
  });

  it('aborts by hand another rollout too, also where nothing goes back by itself', () => {
    const story = Story.serving({ automaticRollback: false });
    story.to(2, { pods: [pod(1), pod(1), starting(2)] });
    story.look({ command: { action: 'abort', revision: 2, id: 'a' } });
    expect(shown(story.look({ pods: [pod(1), pod(1)] }))).toEqual(['Aborted', 1, 1, undefined]);
  });

  it('is replaced by a newer revision, from the first step on', () => {
    const story = serving();
    story.to(2);
    story.look({ pods: [...stable, canaryPod(2)] });
    story.look({}, 10);
    expect(shown(story.to(3))).toEqual(['Progressing', 3, 1, '3 x1']);
    expect(story.last?.status).toMatchObject({ step: 0, from: 1 });
    // Pods of the one before do not count.
    expect(story.look({ pods: [...stable, canaryPod(2)] }).status?.steppedAt).toBeUndefined();
  });

  it('whose promotion fails leaves the revision before', () => {
    const story = serving();
    story.to(2);
    story.look({ pods: [...stable, canaryPod(2)] });
    story.look({}, 10);
    story.look({ pods: [...stable, canaryPod(2), canaryPod(2), canaryPod(2), canaryPod(2)] });
    story.look({}, 20);
    story.look();
    expect(shown(story.look({ stalled: { stable: true, canary: false } }))[0]).toBe('Aborted');
    expect(shown(story.look({ stalled: { stable: false, canary: false } }))).toEqual(['Aborted', 1, 1, undefined]);
  });

  it.each<[string, (story: Story) => void]>([
    ['a first revision', () => {}],
    ['a way back', (story) => story.look({ desired: R[0] })],
  ])('is none for %s', (what, change) => {
    const story = new Story(STEPS, { wanted: 4, desired: what === 'a way back' ? R[1] : R[0] });
    story.look({ pods: what === 'a way back' ? stable.map(() => pod(2)) : [] });
    change(story);
    expect(story.last?.canary).toBeUndefined();
    expect(story.last?.status?.strategy).toBe('Rolling');
  });

  it('takes up where the operator stopped', () => {
    const story = serving();
    story.to(2);
    story.look({ pods: [...stable, canaryPod(2)] });
    story.look({}, 10);
    const before = story.last;
    // Another operator finds the status, and decides the same.
    expect(decideRollout({ ...story.input, before: before?.status, failed: undefined }).canary).toEqual({
      revision: R[1],
      pods: 4,
    });
  });
});

describe('in place', () => {
  const linked = { linked: true };

  it('running pods are told, and the rollout is done when they serve it', () => {
    const story = Story.serving({ strategy: 'InPlace' }, linked);
    expect(story.to(2).status?.strategy).toBe('InPlace');
    // They were started with the one before, which is no matter.
    expect(shown(story.look({ pods: [pod(1, { serves: hash(2) }), pod(1)] }))[0]).toBe('Progressing');
    expect(shown(story.look({ pods: [pod(1, { serves: hash(2) }), pod(1, { serves: hash(2) })] }))[0]).toBe(
      'Succeeded',
    );
  });

  it('a pod that refuses it is the end of it, with its reason', () => {
    const story = Story.serving({ strategy: 'InPlace' }, linked);
    story.to(2);
    story.look({ refusals: [{ pod: 'p', attempt: '2@earlier', detail: 'of another time' }] });
    expect(story.last?.status?.phase).toBe('Progressing');
    const failing = story.look({
      refusals: [{ pod: 'p', attempt: `2@${story.last?.status?.startedAt}`, detail: 'env://X is not set' }],
    });
    expect(failing.failed?.message).toBe('pod p rejected it: env://X is not set');
    expect(shown(story.look())).toEqual(['Failed', 1, 1, undefined]);
  });

  it('pods that do not take it fail it after the deadline, counted from the last that did', () => {
    const story = Story.serving({ strategy: 'InPlace', progressDeadlineSeconds: 30 }, linked);
    story.to(2);
    story.look({ pods: [pod(1, { serves: hash(2) }), pod(1)] }, 29);
    expect(story.look({ programmedBefore: 1 }, 29).status?.phase).toBe('Progressing');
    expect(story.look({}, 2).failed?.message).toContain('pod p1 does not serve it after 30 s');
  });

  it('is rolling where there is no link, and for the first revision', () => {
    expect(Story.serving({ strategy: 'InPlace' }).to(2).status?.strategy).toBe('Rolling');
    expect(new Story({ strategy: 'InPlace' }, linked).look().status?.strategy).toBe('Rolling');
  });
});

describe('the pods of a canary', () => {
  it.each([
    [2, 10, 1],
    [10, 10, 1],
    [10, 25, 3],
    [10, 50, 10],
    [10, 99, 10],
    [1, 50, 1],
  ])('beside %d others, at %d percent, are %d', (others, weight, pods) => {
    expect(canaryPods(weight, others)).toBe(pods);
  });
});

describe('whatever happens, in whatever order', () => {
  it('only kept revisions are served, canaries never by the others, and what failed is not tried on', () => {
    const pods = fc.array(
      fc.record({ serves: fc.integer({ min: 1, max: 3 }), ready: fc.boolean(), canary: fc.boolean() }),
      { maxLength: 6 },
    );
    const events = fc.array(
      fc.record({
        desired: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        pods,
        stable: fc.boolean(),
        canary: fc.boolean(),
        seconds: fc.integer({ min: 0, max: 90 }),
      }),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(fc.constantFrom('Rolling', 'Canary', 'InPlace'), fc.boolean(), events, (strategy, linked, all) => {
        const story = new Story({ strategy }, { linked });
        for (const { desired, pods: found, stable, canary, seconds } of all) {
          const before = story.last?.failed;
          const {
            goal,
            stable: served,
            canary: tried,
            failed,
          } = story.look(
            {
              desired: desired === undefined ? undefined : R[desired - 1],
              latest: desired ?? story.input.latest,
              pods: found.map((each) => pod(each.serves, { ready: each.ready, canary: each.canary })),
              stalled: { stable, canary },
            },
            seconds,
          );
          expect(served === undefined).toBe(goal === undefined);
          if (tried) expect(tried.pods).toBeGreaterThan(0);
          if (before && failed && before.revision === failed.revision && before.at === failed.at) {
            expect([goal?.revision, tried?.revision.revision]).not.toContain(failed.revision);
          }
        }
      }),
      propertyRuns(300),
    );
  });
});
