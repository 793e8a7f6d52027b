import { describe, expect, it } from 'vitest';
import { Exchange } from '../../../../src/exchange.ts';
import { SlowLog } from './slow-log.ts';

function ended(seconds: number) {
  const request = {
    method: 'GET',
    target: '/books/7?token=planted',
    scheme: 'http',
    headers: [],
    clientIp: '127.0.0.1',
  };
  const exchange = new Exchange(
    { send: () => {}, stream: fails, headSent: false, abort: () => {} },
    { ...request, body: null },
  );
  exchange.outcome.dispatchMs = 812.34;
  return {
    exchange,
    method: 'GET',
    route: '/books/{id}',
    api: 'a',
    status: 200,
    seconds,
    requestBytes: 0,
    responseBytes: 0,
  };
}

function fails(): never {
  throw new Error('nothing is streamed here');
}

describe('the log of slow requests', () => {
  it('says what took how long, and names the route, not what the client sent', () => {
    const lines: string[] = [];
    new SlowLog((line) => lines.push(line)).add(ended(1.5));
    expect(lines).toEqual([
      'slow: GET /books/{id} took 1500.0 ms, 812.3 of them from dispatch to the response head; status 200',
    ]);
  });

  it('has a line a second at most, which says how many were left out', () => {
    const lines: string[] = [];
    const log = new SlowLog((line) => lines.push(line));
    for (const now of [0, 1, 500, 999, 1000, 1001, 5000]) log.add(ended(1), now);
    expect(lines).toHaveLength(3);
    expect(lines[0]).not.toContain('more since');
    expect(lines[1]).toMatch(/; 3 more since the last such line$/);
    expect(lines[2]).toMatch(/; 1 more since/);
  });
});
