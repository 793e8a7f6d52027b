/** What comes over the wire, on both sides: a message that its schema holds for, null, or MalformedMessage. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { Hello, Status, Welcome } from './messages.ts';
import { MAX_MESSAGE_BYTES } from './messages.ts';
import { MalformedMessage, readToControl, readToDataPlane } from './read-message.ts';

const HASH = `sha256:${'a'.repeat(64)}`;
const hello: Hello = {
  type: 'hello',
  api_key: 'planted',
  project_id: '6f2f7a3e-52c6-4e0c-9a1b-0d4f4c9d3a10',
  name: 'edge',
  instance_id: 'i-1',
  gw_version: '0.8.0',
  artifact_versions: [6],
  artifact_hash: null,
  labels: { zone: 'a' },
};
const status: Status = {
  type: 'status',
  deployment_id: null,
  artifact_id: 'a',
  artifact_hash: HASH,
  outcome: 'applied',
  reason: null,
  detail: null,
};
const notice = {
  deployment_id: 'd',
  artifact_id: 'a',
  artifact_hash: HASH,
  sha256: HASH,
  size: 1,
  path: '/artifacts/a',
};
const welcome: Welcome = { type: 'welcome', data_plane_id: 'p', heartbeat_seconds: 15, artifact: notice };
const VALID = [
  [readToControl, hello],
  [readToControl, status],
  [readToControl, { type: 'heartbeat', artifact_hash: HASH }],
  [readToDataPlane, welcome],
  [readToDataPlane, { type: 'artifact', ...notice }],
  [readToDataPlane, { type: 'refused', reason: 'bad-key', detail: 'no' }],
  [readToDataPlane, { type: 'heartbeat' }],
  [readToDataPlane, { type: 'drift', drifted: true, wanted: null }],
  [readToDataPlane, { type: 'goodbye', after_ms: 0 }],
] as const;

/** The message, null, or undefined where it is refused; throws whatever else is thrown. */
function read(reader: typeof readToControl | typeof readToDataPlane, text: string) {
  try {
    return reader(text);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    return undefined;
  }
}

describe('messages of the link', () => {
  it.each(VALID)('%# are read, with members that a newer peer adds', (reader, message) => {
    expect(reader(JSON.stringify(message))).toEqual(message);
    expect(reader(JSON.stringify({ ...message, added: { later: [1] } }))).toMatchObject(message);
  });

  it('of types that are not known are none', () => {
    for (const type of ['later', 'constructor', '__proto__', 'toString']) {
      expect(readToControl(JSON.stringify({ type }))).toBeNull();
      expect(readToDataPlane(JSON.stringify({ type }))).toBeNull();
    }
    expect(readToControl(JSON.stringify(welcome))).toBeNull();
    expect(readToDataPlane(JSON.stringify(hello))).toBeNull();
  });

  it.each([
    ['a label with a space', { ...hello, labels: { 'a b': 'c' } }],
    ['33 labels', { ...hello, labels: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`l${i}`, 'v'])) }],
    ['a name with a line break', { ...hello, name: 'a\nb' }],
    ['no project', { ...hello, project_id: 'p' }],
    ['an instance id with a slash', { ...hello, instance_id: '../i' }],
    ['a reason that is none', { ...status, outcome: 'refused', reason: 'because' }],
    ['a hash that is none', { type: 'heartbeat', artifact_hash: 'sha256:0' }],
  ])('with %s are malformed, and the reason holds nothing of them', (_what, message) => {
    expect(() => readToControl(JSON.stringify(message))).toThrow(MalformedMessage);
    expect(() => readToControl(JSON.stringify({ ...message, api_key: 5 }))).toThrow(/^(?!.*planted)/);
  });

  it('past the limit are malformed, whatever they hold', () => {
    const long = JSON.stringify({ ...hello, later: 'ü'.repeat(MAX_MESSAGE_BYTES / 2) });
    expect(() => readToControl(long)).toThrow(/bytes/);
  });

  it('that are any text or JSON are read, ignored or malformed, and nothing else happens', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.json().map((json) => `{"type":"hello","a":${json}}`),
    );
    fc.assert(
      fc.property(text, (each) => {
        for (const reader of [readToControl, readToDataPlane]) read(reader, each);
      }),
      propertyRuns(500),
    );
  });

  it('with one member changed are what they were, or malformed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...VALID), fc.nat(), fc.jsonValue(), ([reader, message], at, value) => {
        const names = Object.keys(message);
        const name = names[at % names.length] ?? 'type';
        const got = read(reader, JSON.stringify({ ...message, [name]: value }));
        if (got !== undefined && got !== null) expect(got).toMatchObject({ type: message.type });
      }),
      propertyRuns(1000),
    );
  });
});
