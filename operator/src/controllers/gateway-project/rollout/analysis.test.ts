/** What is read of pods' metrics, and how a canary is judged by it. */
import { describe, expect, it } from 'vitest';
import { gatewayProjects } from '../../../api/resources.ts';
import { judge, NOTHING, quantileMs, readSample, type Sample, since } from './analysis.ts';
import { Measurements } from './measurements.ts';

const TEXT = `# HELP gw_requests_total Requests answered
# TYPE gw_requests_total counter
gw_requests_total{method="GET",path="/a",status="200",api="x"} 90
gw_requests_total{method="GET",path="/{a}status=\\"500\\"",status="404",api="x"} 6
gw_requests_total{method="POST",path="/a",status="503",api="x"} 4
gw_request_duration_seconds_bucket{le="0.1",method="GET",path="/a",status="200",api="x"} 50
gw_request_duration_seconds_bucket{le="0.25",method="GET",path="/a",status="200",api="x"} 99
gw_request_duration_seconds_bucket{le="+Inf",method="GET",path="/a",status="200",api="x"} 100
gw_request_duration_seconds_count{method="GET",path="/a",status="200",api="x"} 100
gw_requests_total 7
nonsense
`;
const specOf = (analysis: object) =>
  gatewayProjects.parse({
    metadata: { name: 'shop' },
    spec: { specs: { selector: {} }, rollout: { canary: { analysis } } },
  }).spec.rollout;
const answered = (requests: number, errors: number, p99: number = 0.1): Sample => ({
  requests,
  errors,
  buckets: new Map([
    [p99, requests],
    [Number.POSITIVE_INFINITY, requests],
  ]),
});

describe('metrics', () => {
  it('are read: requests, those with 5xx, and how long they took', () => {
    const sample = readSample(TEXT);
    expect([sample.requests, sample.errors]).toEqual([100, 4]);
    expect([...sample.buckets]).toEqual([
      [0.1, 50],
      [0.25, 99],
      [Number.POSITIVE_INFINITY, 100],
    ]);
    expect(readSample('').requests).toBe(0);
  });

  it('have quantiles, between bounds', () => {
    expect(quantileMs(readSample(TEXT), 0.5)).toBe(100);
    expect(quantileMs(readSample(TEXT), 0.99)).toBe(250);
    expect(quantileMs(readSample(TEXT), 0.999)).toBe(Number.POSITIVE_INFINITY);
    expect(quantileMs(NOTHING, 0.99)).toBe(0);
  });

  it('count from what was before, or anew where the pod began anew', () => {
    expect(since(answered(10, 2), answered(4, 1))).toMatchObject({ requests: 6, errors: 1 });
    expect(since(answered(3, 2), answered(4, 1))).toMatchObject({ requests: 3, errors: 2 });
  });
});

describe('a canary', () => {
  it.each([
    ['too few requests', {}, answered(19, 19), answered(100, 0), 'unknown'],
    ['no errors', {}, answered(20, 0), answered(100, 0), 'good'],
    ['as many errors as the others', {}, answered(100, 50), answered(100, 50), 'good'],
    ['more errors than the others', {}, answered(100, 5), answered(100, 1), 'worse'],
    ['as many more as are allowed', { maxErrorPercent: 4 }, answered(100, 5), answered(100, 1), 'good'],
    ['errors where the others have no requests', {}, answered(100, 5), NOTHING, 'worse'],
    ['slow, where that is not judged', {}, answered(100, 0, 10), NOTHING, 'good'],
    ['slow', { maxP99Ms: 500 }, answered(100, 0, 1), NOTHING, 'worse'],
    ['fast', { maxP99Ms: 500 }, answered(100, 0, 0.25), NOTHING, 'good'],
  ])('with %s', (_, analysis, canary, others, verdict) => {
    expect(judge(specOf(analysis), canary, others).verdict).toBe(verdict);
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
    const look = (step: string, now: number) => measurements.judge('uid', step, pods, specOf({}), now);
    expect((await look('2/0', 0)).verdict).toBe('unknown');
    [stable, canary] = [text(1100, 500), text(150, 100)];
    // Looked at no more often than every two seconds.
    expect((await look('2/0', 1000)).verdict).toBe('unknown');
    expect(await look('2/0', 2000)).toMatchObject({ verdict: 'good', message: expect.stringContaining('50 answers') });
    expect((await look('2/1', 2100)).verdict).toBe('unknown');
    canary = text(200, 110);
    expect((await look('2/1', 4100)).verdict).toBe('worse');
  });
});
