/** What a request gets for verdicts, which stand here in place of the engine. */
import { describe, expect, it } from 'vitest';
import { recordedExchange } from '../../../sdk/testing/recorder.ts';
import type { EndedRequest, JsonObject } from '../../kit.ts';
import { FrameWriter } from './frame-writer.ts';
import { InspectedRequest } from './inspected-request.ts';
import { Inspections } from './inspections.ts';
import { RuleIndex } from './rule-index.ts';
import { readWafSettings } from './settings.ts';

const index = new RuleIndex({ rules: [{ id: 942100, severity: 2, tags: ['attack-sqli'] }] as never });

type Outcome = 'passes' | 'refused' | 'would be refused';
const OUTCOMES: readonly Outcome[] = ['passes', 'refused', 'would be refused'];

/** With matches of rule 0 at `ARGS_GET:q`, whose number is that of `vocabulary.ts`. */
function verdictOf(outcome: Outcome, messages: readonly string[], value: string, location = ''): Buffer {
  const [status, rule] = outcome === 'passes' ? [0, 0] : [location === '' ? 403 : 302, 949110];
  const frame = new FrameWriter();
  const numbers = [OUTCOMES.indexOf(outcome), location === '' ? 0 : 2, status, rule, 0, 0, 700, 5 * messages.length, 0];
  for (const number of numbers) frame.number(number);
  frame.text(location).list(messages, (message) => {
    frame.number(0).number(942100).number(1).text(message);
    frame.number(1).number(2).text('q').text(value);
  });
  frame.text('').number(0);
  return Buffer.from(frame.taken());
}

const PASSES = verdictOf('passes', [], '');
const DENIES = verdictOf('refused', ['SQL injection'], "1' or '1");
const WOULD_DENY = verdictOf('would be refused', ['SQL injection'], '');

const CONFIG: JsonObject = {
  rule_set: 'waf/0',
  paranoia_level: 1,
  anomaly_thresholds: { inbound: 5, outbound: 4 },
  sampling: 100,
  request_body: { inspect: true, max_bytes: 10, max_arguments: 1, max_depth: 1 },
  response_body: { inspect: true, max_bytes: 100, content_types: ['text/html'] },
};

interface Inspected {
  readonly config?: JsonObject;
  readonly body?: string;
  /** Verdicts, in their order; an error ends an inspection without one. */
  readonly verdicts: readonly (Buffer | Error)[];
}

function inspectedOf({ config = {}, body, verdicts }: Inspected) {
  const exchange = recordedExchange({
    path: '/books?q=1',
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  const frames: Uint8Array[] = [];
  const counts: string[][] = [];
  const counter = { count: (...labels: string[]) => counts.push(labels) } as never;
  const inspect = async (frame: Uint8Array) => {
    const verdict = verdicts[frames.length] ?? PASSES;
    frames.push(frame);
    if (verdict instanceof Error) throw verdict;
    return { bytes: verdict, cpuMs: 1 };
  };
  const inspected = new InspectedRequest(exchange, {
    settings: readWafSettings({ ...CONFIG, ...config }),
    rules: { index, inspect },
    frameSettings: new Uint8Array(),
    inspections: new Inspections(),
    counters: { requests: counter, matches: counter },
    plugin: 'waf',
    log: () => {},
  });
  return { exchange, inspected, frames, counts };
}

const ENDED = { method: 'GET', route: '/books' } as EndedRequest;

describe('a request', () => {
  it('is refused with the status of the rule, which the log names without the value', async () => {
    const { inspected, counts } = inspectedOf({ verdicts: [DENIES] });
    expect(await inspected.inspectHead()).toMatchObject({ problem: { status: 403, title: 'Request denied' } });
    const logged = JSON.parse(`{"a":0${inspected.logged}}`);
    expect(logged.waf).toEqual({
      outcome: 'denied',
      rule: 949110,
      inbound: 5,
      outbound: 0,
      rules: [
        {
          ...{ id: 942100, msg: 'SQL injection', severity: 2, tags: ['attack-sqli'] },
          matched: [{ variable: 'ARGS_GET:q' }],
        },
      ],
    });
    inspected.finished(ENDED);
    expect(counts).toEqual([['GET', '/books', 'denied'], ['sqli']]);
  });

  it('has the rules in its problem document for developers, without the values', async () => {
    const { inspected } = inspectedOf({ verdicts: [DENIES] });
    expect(await inspected.inspectHead()).toMatchObject({
      problem: { devMembers: { rules: [{ id: 942100, msg: 'SQL injection', variable: 'ARGS_GET:q' }] } },
    });
  });

  it('passes in mode detect, and is counted as one that would be refused', async () => {
    const { inspected, counts } = inspectedOf({ config: { mode: 'detect' }, verdicts: [WOULD_DENY] });
    expect(await inspected.inspectHead()).toBeNull();
    inspected.finished(ENDED);
    expect(counts[0]).toEqual(['GET', '/books', 'would-deny']);
  });

  it.each([
    ['https://example.com/blocked', { status: 302, headers: ['location', 'https://example.com/blocked'] }],
    ['/blocked\r\nset-cookie: a=b', { status: 403 }],
  ])('is redirected to %j with %j', async (location, expected) => {
    const { inspected } = inspectedOf({ verdicts: [verdictOf('refused', [], '', location)] });
    const answer = await inspected.inspectHead();
    expect(answer).toMatchObject({ problem: expected });
  });

  it('has its values in the log only where the config says so', async () => {
    const { inspected } = inspectedOf({ config: { audit_log: { values: true } }, verdicts: [DENIES] });
    await inspected.inspectHead();
    expect(inspected.logged).toContain('"value":"1\' or \'1"');
  });

  it.each([
    [{}, PASSES, ''],
    [{ audit_log: { requests: 'all' } }, PASSES, '"outcome":"passed"'],
    [{ audit_log: { requests: 'none' } }, DENIES, ''],
  ])('with %j has its line in the log', async (config, verdict, expected) => {
    const { inspected } = inspectedOf({ config, verdicts: [verdict] });
    await inspected.inspectHead();
    if (expected === '') expect(inspected.logged).toBe('');
    else expect(inspected.logged).toContain(expected);
  });

  it.each([
    ['block', 400],
    ['detect', null],
  ])('that cannot be inspected to the end gets, in mode %s, %j', async (mode, status) => {
    const { inspected } = inspectedOf({ config: { mode }, verdicts: [new Error('unreachable')] });
    const answer = await inspected.inspectHead();
    if (status === null) expect(answer).toBeNull();
    else expect(answer).toMatchObject({ problem: { status } });
    expect(inspected.logged).toContain('"outcome":"limit","limit":"fault"');
  });
});

describe('a body', () => {
  it('is inspected when it is read, and refused then', async () => {
    const { inspected, exchange, frames } = inspectedOf({ body: '{"a":1}', verdicts: [PASSES, DENIES] });
    expect(await inspected.inspectHead()).toBeNull();
    expect(frames).toHaveLength(1);
    expect(await exchange.inspectBody?.(Buffer.from('{"a":1}'))).toBe(false);
    expect(exchange.answer).toMatchObject({ problem: { status: 403 } });
    expect(exchange.outcome.decidedBy).toBe('waf');
  });

  it('is limited with over_limit: reject', async () => {
    const { inspected, exchange } = inspectedOf({ body: 'x'.repeat(20), verdicts: [] });
    await inspected.inspectHead();
    expect(exchange.bodyStream?.limit).toBe(10);
  });

  it('is not limited in mode detect', async () => {
    const { inspected, exchange } = inspectedOf({ config: { mode: 'detect' }, body: 'x'.repeat(20), verdicts: [] });
    await inspected.inspectHead();
    expect(exchange.bodyStream?.limit).toBe(Number.POSITIVE_INFINITY);
  });

  it('is inspected up to the limit with over_limit: partial', async () => {
    const request_body = { ...(CONFIG['request_body'] as JsonObject), over_limit: 'partial' };
    const { inspected, exchange, frames } = inspectedOf({
      config: { request_body },
      body: 'x'.repeat(20),
      verdicts: [],
    });
    await inspected.inspectHead();
    expect(exchange.bodyStream?.limit).toBe(Number.POSITIVE_INFINITY);
    expect(await exchange.inspectBody?.(Buffer.from('x'.repeat(20)))).toBe(true);
    expect(
      Buffer.from(frames[1] ?? [])
        .toString('latin1')
        .split('x').length - 1,
    ).toBe(10);
  });

  it('is not inspected where the config says so', async () => {
    const request_body = { ...(CONFIG['request_body'] as JsonObject), inspect: false };
    const { inspected, exchange } = inspectedOf({ config: { request_body }, body: 'x', verdicts: [] });
    await inspected.inspectHead();
    expect(exchange.inspectBody).toBeNull();
  });
});

describe('a response', () => {
  it('is refused, and another stands in its place', async () => {
    const { inspected, exchange } = inspectedOf({ verdicts: [PASSES, DENIES] });
    await inspected.inspectHead();
    exchange.response.status = 200;
    exchange.response.headers = ['content-type', 'text/html'];
    exchange.response.body = '<b>ORA-01756</b>';
    expect(await inspected.inspectResponse()).toMatchObject({ problem: { status: 403 } });
  });

  it('that is a refusal already is left alone', async () => {
    const { inspected, frames } = inspectedOf({ verdicts: [DENIES] });
    await inspected.inspectHead();
    expect(await inspected.inspectResponse()).toBeNull();
    expect(frames).toHaveLength(1);
  });
});
