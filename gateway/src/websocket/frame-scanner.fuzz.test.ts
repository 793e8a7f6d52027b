/** However the bytes of a WebSocket are split, the same of them passes, and the same is said of them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { closeFrame } from './close-frame.ts';
import { type FrameRules, FrameScanner } from './frame-scanner.ts';

interface Frame {
  readonly first: number;
  readonly masked: boolean;
  /** Bytes of the length: 1, or 3 or 9 with its escape. */
  readonly size: 1 | 3 | 9;
  readonly payload: Uint8Array;
}

const MASK = Buffer.from([0xa1, 0x00, 0xff, 0x37]);

function bytesOf({ first, masked, size, payload }: Frame): Buffer {
  const long = payload.length > 125 && size === 1 ? 3 : size;
  const head = Buffer.alloc(1 + long);
  head[0] = first;
  const bit = masked ? 0x80 : 0;
  if (long === 1) head[1] = bit | payload.length;
  else if (long === 3) {
    head[1] = bit | 126;
    head.writeUInt16BE(payload.length, 2);
  } else {
    head[1] = bit | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  if (!masked) return Buffer.concat([head, payload]);
  return Buffer.concat([head, MASK, payload.map((byte, i) => byte ^ (MASK[i % 4] ?? 0))]);
}

/** Where each frame ends, and the first begins. */
function endsOf(frames: readonly Frame[]): number[] {
  const ends = [0];
  let end = 0;
  for (const each of frames) {
    end += bytesOf(each).length;
    ends.push(end);
  }
  return ends;
}

/** Mostly frames that are right, of messages in pieces and control frames between them. */
const first = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0x81, 0x82, 0x01, 0x00, 0x80, 0x89, 0x8a) },
  { weight: 1, arbitrary: fc.constantFrom(0x88, 0xc1, 0x41, 0xc0) },
  { weight: 1, arbitrary: fc.nat(255) },
);
const frames = (masked: boolean) =>
  fc.array(
    fc.record({
      first,
      masked: fc.oneof({ weight: 20, arbitrary: fc.constant(masked) }, { weight: 1, arbitrary: fc.constant(!masked) }),
      size: fc.constantFrom<Frame['size']>(1, 1, 1, 3, 9),
      payload: fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.uint8Array({ maxLength: 300 })),
    }),
    { maxLength: 12 },
  );

function runOver(scanner: FrameScanner, bytes: Buffer, cuts: readonly number[]) {
  const passed: Buffer[] = [];
  let from = 0;
  for (const to of [...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length]) {
    const { lead, body } = scanner.scan(Buffer.from(bytes.subarray(from, to)));
    if (lead !== null) passed.push(lead);
    passed.push(body);
    from = to;
  }
  const { violation, closeCode, closePassed, messages, atFrameEnd } = scanner;
  return { passed: Buffer.concat(passed), violation, closeCode, closePassed, messages, atFrameEnd };
}

const scanned = (rules: FrameRules, bytes: Buffer, cuts: readonly number[]) =>
  runOver(new FrameScanner(rules), bytes, cuts);

const streams = fc
  .record({ masked: fc.boolean(), deflate: fc.boolean(), maxMessageBytes: fc.constantFrom(200, 1000, 1 << 30) })
  .chain((rules) => fc.tuple(fc.constant(rules), frames(rules.masked)));
const cuts = fc.array(fc.nat(2500), { maxLength: 30 });

it('says the same of every split', () => {
  fc.assert(
    fc.property(streams, cuts, fc.uint8Array({ maxLength: 20 }), ([rules, given], splits, tail) => {
      const bytes = Buffer.concat([...given.map(bytesOf), tail]);
      const whole = scanned(rules, bytes, []);
      expect(scanned(rules, bytes, splits)).toEqual(whole);
      const each = Array.from(bytes, (_, i) => i);
      expect(scanned(rules, bytes, each)).toEqual(whole);
      // What passes is what came, up to where it ends.
      expect(bytes.subarray(0, whole.passed.length).equals(whole.passed)).toBe(true);
      if (whole.violation !== null) expect(whole.atFrameEnd).toBe(true);
    }),
    propertyRuns(2000),
  );
});

it('passes whole frames alone once it is stopped, and sees the close frame behind them', () => {
  fc.assert(
    fc.property(streams, fc.nat(2500), cuts, ([rules, given], at, splits) => {
      const own = Buffer.concat(given.map(bytesOf));
      const close = closeFrame({ code: 4001, reason: 'why' }, rules.masked);
      const stopAt = Math.min(at, own.length);
      const scanner = new FrameScanner(rules);
      const before = runOver(scanner, own.subarray(0, stopAt), splits);
      scanner.stop();
      const after = runOver(scanner, Buffer.concat([own.subarray(stopAt), close]), splits);
      const passed = Buffer.concat([before.passed, after.passed]);
      expect(endsOf(given)).toContain(passed.length);
      expect(passed.length - stopAt).toBeLessThan(320);
      const refused = scanned(rules, own, []);
      if (refused.violation !== null || refused.closeCode !== null) return;
      expect(after).toMatchObject({ closeCode: 4001, closePassed: false, atFrameEnd: true });
    }),
    propertyRuns(2000),
  );
});

it('refuses a length past what there can be', () => {
  const scanner = new FrameScanner({ masked: false, deflate: false, maxMessageBytes: 1 << 30 });
  const { body } = scanner.scan(Buffer.from([0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
  expect(body.length).toBe(0);
  expect(scanner.violation?.code).toBe(1009);
});
