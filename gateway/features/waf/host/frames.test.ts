/** Frames for the engine, byte by byte: the engine reads them by position. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { callSettings } from './call-settings.ts';
import { FrameWriter } from './frame-writer.ts';
import { PHASES, requestFrame } from './request-frame.ts';
import { RuleIndex } from './rule-index.ts';
import { readWafSettings } from './settings.ts';
import { readVerdict } from './verdict.ts';

const index = new RuleIndex({ rules: [{ id: 1, severity: null, tags: [] }] as never });
const SETTINGS = readWafSettings({
  rule_set: 'waf/0',
  mode: 'block',
  paranoia_level: 1,
  detection_paranoia_level: 2,
  anomaly_thresholds: { inbound: 5, outbound: 4 },
  sampling: 100,
  exclusions: [{ rules: [1] }, { rules: [1], parameters: ['query:q'] }],
  request_body: { max_bytes: 1, max_arguments: 1000, max_depth: 64 },
  response_body: { max_bytes: 1 },
});

afterEach(() => {
  vi.useRealTimers();
});

describe('frames', () => {
  it('grow with what is written', () => {
    const frame = new FrameWriter(1).number(1).text('\xe9'.repeat(100)).bytes(new Uint8Array(9_000));
    const bytes = Buffer.from(frame.taken());
    expect(bytes.length).toBe(4 + 104 + 9_004);
    expect(bytes[8]).toBe(0xe9);
  });

  it('begin with the settings of the operation', () => {
    const operation = { operationId: undefined, method: 'PUT', path: '/a' };
    const presets = [
      ['blocking_paranoia_level', '1'],
      ['detection_paranoia_level', '2'],
      ['inbound_anomaly_score_threshold', '5'],
      ['outbound_anomaly_score_threshold', '4'],
      ['allowed_methods', 'PUT HEAD OPTIONS'],
      [
        'allowed_request_content_type',
        '|application/x-www-form-urlencoded| |multipart/form-data| |text/xml| |application/xml| |application/soap+xml| |application/json|',
      ],
    ] as const;
    const expected = new FrameWriter().number(1).number(50_000_000).number(1000).number(64);
    expected.list(presets, ([name, value]) => expected.text(name).text(value));
    expected.number(1).number(0).number(0);
    // `ARGS_GET` is the third variable.
    expected.number(1).number(1).number(0).number(0).number(2).number(1).text('q').number(0).number(0);
    expect(callSettings(SETTINGS, operation, index, null)).toEqual(expected.taken());
  });

  it('have what the document proves, unless the config says otherwise', () => {
    const operation = { operationId: undefined, method: 'GET', path: '/a' };
    const page = {
      name: 'page',
      in: 'query',
      style: 'form',
      explode: true,
      required: false,
      types: ['integer'],
    } as const;
    const inputs = {
      parameters: [{ ...page, schema: { $ref: 'gw:s' } }],
      body: null,
      schemas: { s: { type: 'integer' } },
    };
    const frameOf = (useDocument: boolean) =>
      Buffer.from(callSettings({ ...SETTINGS, useDocument }, operation, index, inputs)).toString('latin1');
    expect(frameOf(true)).toContain('page');
    expect(frameOf(false)).not.toContain('page');
  });

  it('allow content types that the operation describes', () => {
    const operation = { operationId: undefined, method: 'PATCH', path: '/a' };
    const content = { 'application/merge-patch+json': { schema: {} } } as never;
    const inputs = { parameters: [], body: { required: true, content }, schemas: {} };
    const frame = Buffer.from(callSettings(SETTINGS, operation, index, inputs)).toString('latin1');
    expect(frame).toContain('|application/json| |');
    expect(frame).toContain(' |application/merge-patch+json|');
  });

  it('have the request as it was sent, and the response', () => {
    const head = { clientIp: '192.0.2.1', method: 'GET', target: '/a?b', rawHeaders: ['X-A', 'b'], requestId: 'r' };
    const response = { status: 200, headers: ['content-type', 'text/html'], body: Buffer.from('c') };
    const expected = new FrameWriter().number(2).text('192.0.2.1').text('GET').text('/a?b').text('HTTP/1.1');
    expected.number(1).text('X-A').text('b').text('r').number(1_800_000_000).number(0);
    expected.number(1).number(200).number(1).text('content-type').text('text/html').text('c');
    vi.useFakeTimers({ now: 1_800_000_000_500, toFake: ['Date'] });
    expect(requestFrame(new Uint8Array(), PHASES.requestHead, head, null, response)).toEqual(expected.taken());
  });

  it('bring verdicts back', () => {
    const frame = new FrameWriter();
    for (const number of [1, 0, 403, 949110, 0, 0, 700, 5, 0]) frame.number(number);
    frame.text('').number(1).number(7).number(942100).number(3).text('A message');
    frame.number(1).number(2).text('q').text('');
    frame
      .bytes(Buffer.from([0, 2, 5]))
      .number(1)
      .number(2)
      .text('page');
    const verdict = Buffer.from(frame.taken());
    expect(readVerdict(verdict)).toEqual({
      ...{ outcome: 'refused', answer: 'status', status: 403, rule: 949110, limit: null, limitRule: 0, units: 700 },
      ...{ inbound: 5, outbound: 0, location: '' },
      matches: [
        {
          ...{ rule: 7, id: 942100, isLogged: true, message: 'A message' },
          values: [{ variable: 'ARGS_GET:q', value: '' }],
        },
      ],
      fates: ['not reached', 'matched', 'excluded by the config'],
      proved: ['ARGS_GET:page'],
    });
    expect(() => readVerdict(verdict.subarray(0, 10))).toThrow(RangeError);
  });
});
