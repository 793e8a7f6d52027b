/** How a canary is judged by what it and the others have answered. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { gatewayProjects } from '../../../api/resources.ts';
import { analyse } from './analysis.ts';
import { Measurements } from './measurements.ts';
import { type Answers, NOTHING, type Sample } from './sample.ts';

const specOf = (analysis: object) =>
  gatewayProjects.parse({
    metadata: { name: 'shop' },
    spec: { specs: { selector: {} }, rollout: { canary: { analysis } } },
  }).spec.rollout;
const answers = (requests: number, errors: number, seconds: number = 0.1): Answers => ({
  requests,
  errors,
  buckets: new Map([
    [0.1, seconds <= 0.1 ? requests : 0],
    [1, seconds <= 1 ? requests : 0],
    [Number.POSITIVE_INFINITY, requests],
  ]),
});
/** So many of a hundred take ten seconds. */
const partlySlow = (requests: number, slow: number): Sample =>
  new Map([
    [
      'GET /a',
      {
        requests,
        errors: 0,
        buckets: new Map([
          [0.1, requests - slow],
          [Number.POSITIVE_INFINITY, requests],
        ]),
      },
    ],
  ]);
const answered = (...of: Parameters<typeof answers>): Sample => new Map([['GET /a', answers(...of)]]);

describe('a canary', () => {
  it.each([
    ['too few requests', {}, answered(19, 0), answered(100, 0), 'unknown'],
    ['no errors', {}, answered(20, 0), answered(100, 0), 'good'],
    ['as many errors as the others', {}, answered(100, 50), answered(100, 50), 'good'],
    ['more errors than the others', {}, answered(100, 15), answered(400, 4), 'worse'],
    ['more errors, which may be chance', {}, answered(100, 5), answered(100, 1), 'good'],
    ['four errors, however unlikely', {}, answered(20, 4), answered(9000, 0), 'good'],
    ['as many more as are allowed', { maxErrorPercent: 15 }, answered(100, 15), answered(400, 4), 'good'],
    ['nothing but errors, before it has minRequests', {}, answered(8, 8), answered(300, 0), 'worse'],
    ['errors where the others have no requests', {}, answered(100, 9), NOTHING, 'worse'],
    ['as many of those as are allowed', { maxErrorPercent: 10 }, answered(100, 9), NOTHING, 'good'],
    ['slow, where that is not judged', {}, answered(100, 0, 10), NOTHING, 'good'],
    ['slow', { maxP99Ms: 500 }, answered(100, 0, 10), answered(100, 0), 'worse'],
    ['slow, as the others are', { maxP99Ms: 500 }, partlySlow(100, 10), partlySlow(100, 10), 'good'],
    [
      'slow, where the others are too slow themselves',
      { maxP99Ms: 500 },
      answered(50, 0, 10),
      answered(90, 0, 10),
      'worse',
    ],
    ['fast, where the others are too slow', { maxP99Ms: 500 }, answered(50, 0), answered(90, 0, 10), 'good'],
    ['as many errors as others that fail themselves', {}, answered(60, 58), answered(100, 98), 'worse'],
    [
      'few errors beside others that fail themselves',
      { maxErrorPercent: 10 },
      answered(60, 5),
      answered(100, 98),
      'good',
    ],
    ['slow, where the others have no requests', { maxP99Ms: 500 }, answered(100, 0, 10), NOTHING, 'worse'],
    ['fast', { maxP99Ms: 1000 }, answered(100, 0, 1), NOTHING, 'good'],
  ])('with %s', (_, analysis, canary, others, verdict) => {
    expect(analyse(specOf(analysis), canary, others).verdict).toBe(verdict);
  });

  it('is aborted for one operation that always fails, however much else goes well', () => {
    const canary = new Map([
      ['GET /books', answers(500, 0)],
      ['POST /books', answers(6, 6)],
    ]);
    const others = new Map([
      ['GET /books', answers(4500, 0)],
      ['POST /books', answers(800, 0)],
    ]);
    expect(analyse(specOf({}), canary, others)).toMatchObject({
      verdict: 'worse',
      message: "POST /books: 100 % of its 6 answers are 5xx, 0 % of the others': 1 % more are allowed",
    });
  });

  it('says that the others fail themselves, and judges by the limits alone', () => {
    const others = new Map([['POST /a', answers(50, 50)]]);
    expect(analyse(specOf({}), new Map([['POST /a', answers(40, 40)]]), others)).toMatchObject({
      verdict: 'worse',
      worse: ['POST /a'],
      message: 'POST /a: 100 % of its 40 answers are 5xx, the others fail themselves (100 %): 1 % are allowed',
    });
    expect(analyse(specOf({}), new Map([['POST /a', answers(40, 0)]]), others)).toMatchObject({
      verdict: 'good',
      message: expect.stringContaining('the other pods fail themselves at POST /a: the limits alone count there'),
    });
  });

  it('counts no failure as evidence, also while it is too early to judge', () => {
    const { verdict, requests } = analyse(specOf({}), new Map([['POST /a', answers(4, 4)]]), NOTHING);
    expect([verdict, requests.get('POST /a')]).toEqual(['unknown', 0]);
    expect(analyse(specOf({}), new Map([['GET /a', answers(500, 3)]]), NOTHING).requests.get('GET /a')).toBe(497);
  });

  it('is aborted for many operations that fail a little', () => {
    const of = (requests: number, errors: number) =>
      new Map(Array.from({ length: 30 }, (_, i) => [`GET /${i}`, answers(requests, errors)] as const));
    expect(analyse(specOf({}), of(20, 2), of(100, 1))).toMatchObject({
      verdict: 'worse',
      message: '10 % of its 600 answers are 5xx, 1 % would be with the others: 1 % more are allowed',
    });
  });

  it('names the operations in use that it has had too few requests of', () => {
    const others = new Map(['/a', '/b', '/c', '/d', '/e'].map((path) => [`GET ${path}`, answers(100, 0)]));
    const canary = new Map([['GET /a', answers(20, 0)]]);
    expect(analyse(specOf({}), canary, others)).toEqual({
      verdict: 'good',
      message:
        'no operation performs worse than on the other pods, in 20 requests; too few requests to judge GET /b, GET /c, GET /d and 1 more',
      withoutEvidence: ['GET /b', 'GET /c', 'GET /d', 'GET /e'],
      worse: [],
      requests: new Map([
        ['GET /a', 20],
        ...['/b', '/c', '/d', '/e'].map((path): [string, number] => [`GET ${path}`, 0]),
      ]),
    });
    expect(analyse(specOf({}), NOTHING, NOTHING)).toMatchObject({ verdict: 'unknown', withoutEvidence: [] });
  });

  it('that is as good as the others is hardly ever aborted, whatever fails for both', () => {
    let aborted = 0;
    let runs = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.constantFrom(0, 0.01, 0.1, 0.3)), { minLength: 1 }),
        // Evenly, or both would fail at nearly everything, and others that fail themselves are no measure.
        fc.noBias(fc.infiniteStream(fc.integer({ min: 0, max: 999_999 }))),
        (operations, chances) => {
          const failing = (count: number, share: number) =>
            Array.from({ length: count }, () => (chances.next().value as number) / 1e6).filter((each) => each < share)
              .length;
          const sampleOf = (times: number): Sample =>
            new Map(
              operations.map(([count, share], i) => [
                `GET /${i}`,
                answers(count * times, failing(count * times, share)),
              ]),
            );
          runs++;
          if (analyse(specOf({}), sampleOf(1), sampleOf(3)).verdict === 'worse') aborted++;
        },
      ),
      propertyRuns(300),
    );
    expect(aborted).toBeLessThanOrEqual(Math.max(2, runs / 100));
  });

  it('is measured from the beginning of its step, and pods that do not answer are left out', async () => {
    const measurements = new Measurements();
    const text = (requests: number, errors: number) =>
      `gw_requests_total{status="200"} ${requests - errors}\ngw_requests_total{status="500"} ${errors}\n`;
    let [stable, canary] = [text(1000, 500), text(100, 100)];
    const pods = [
      { id: 'a', canary: false, read: async () => stable },
      { id: 'b', canary: true, read: async () => canary },
      {
        id: 'c',
        canary: true,
        read: async () => {
          throw new Error('away');
        },
      },
    ];
    const look = (step: string, now: number) => measurements.analyse('uid', step, pods, specOf({}), now);
    expect((await look('2/0', 0)).verdict).toBe('unknown');
    [stable, canary] = [text(1100, 500), text(150, 100)];
    // Looked at no more often than every two seconds.
    expect((await look('2/0', 1000)).verdict).toBe('unknown');
    expect(await look('2/0', 2000)).toMatchObject({ verdict: 'good', message: expect.stringContaining('50 requests') });
    expect((await look('2/1', 2100)).verdict).toBe('unknown');
    canary = text(200, 110);
    expect((await look('2/1', 4100)).verdict).toBe('worse');
  });
});
