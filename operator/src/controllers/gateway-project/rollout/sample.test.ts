/** What is read of pods' metrics. */
import { describe, expect, it } from 'vitest';
import { NO_ANSWERS, quantileMs, readSample, since, slowerThan, sum, total } from './sample.ts';

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
gw_requests_total{method="GET",path="unmatched",status="404",api=""} 50
nonsense
`;
const GET = 'GET /a';

describe('metrics', () => {
  it('are read by operation: requests, those with 5xx, and how long they took', () => {
    const sample = readSample(TEXT);
    expect([...sample].map(([name, { requests, errors }]) => [name, requests, errors])).toEqual([
      [GET, 90, 0],
      ['GET /{a}status="500"', 6, 0],
      ['POST /a', 4, 4],
    ]);
    expect([...(sample.get(GET)?.buckets ?? [])]).toEqual([
      [0.1, 50],
      [0.25, 99],
      [Number.POSITIVE_INFINITY, 100],
    ]);
    expect(readSample('').size).toBe(0);
  });

  it('have quantiles, between bounds, and requests that were slower', () => {
    const answers = readSample(TEXT).get(GET) ?? NO_ANSWERS;
    expect([0.5, 0.99, 0.999].map((share) => quantileMs(answers, share))).toEqual([100, 250, Number.POSITIVE_INFINITY]);
    expect(quantileMs(NO_ANSWERS, 0.99)).toBe(0);
    expect([100, 101, 250, 500].map((ms) => slowerThan(answers, ms))).toEqual([50, 1, 1, 0]);
  });

  it('count from what was before, or anew where the pod began anew', () => {
    const of = (requests: number, errors: number) => new Map([[GET, { requests, errors, buckets: new Map() }]]);
    expect(total(since(of(10, 2), of(4, 1)))).toMatchObject({ requests: 6, errors: 1 });
    expect(total(since(of(3, 2), of(4, 1)))).toMatchObject({ requests: 3, errors: 2 });
    expect(total(sum([of(3, 2), of(4, 1)]))).toMatchObject({ requests: 7, errors: 3 });
  });
});
