/** However the frames of messages are split, whole messages that hold pass, with the control frames between. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { CloseStatus } from '../close-status.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { FrameScanner } from './frame-scanner.ts';
import { MessageGate } from './message-gate.ts';

const MASK = Buffer.from([0xa1, 0x00, 0xff, 0x37]);
const REFUSED: CloseStatus = { code: 1008, reason: 'no' };
const BAD = 'no';

interface Message {
  /** Of each frame. */
  readonly parts: readonly string[];
  /** Control frames before each frame but the first. */
  readonly pings: readonly number[];
}

function frame(opcode: number, final: boolean, payload: Buffer, masked: boolean): Buffer {
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  const head = Buffer.from([
    (final ? 0x80 : 0) | opcode,
    (masked ? 0x80 : 0) | (length[0] as number),
    ...length.slice(1),
  ]);
  if (!masked) return Buffer.concat([head, payload]);
  return Buffer.concat([head, MASK, payload.map((byte, i) => byte ^ (MASK[i % 4] as number))]);
}

/** All frames of a message in order, and those that would go on if it passes. */
function framesOf({ parts, pings }: Message, masked: boolean) {
  const data: Buffer[] = [];
  const control: Buffer[] = [];
  const all: Buffer[] = [];
  for (const [i, part] of parts.entries()) {
    for (let n = i === 0 ? 0 : (pings[i] ?? 0); n > 0; n--) {
      const ping = frame(0x9, true, Buffer.from(`p${n}`), masked);
      control.push(ping);
      all.push(ping);
    }
    const one = frame(i === 0 ? 1 : 0, i === parts.length - 1, Buffer.from(part), masked);
    data.push(one);
    all.push(one);
  }
  return { all, data, control };
}

function gateOf(budget: BufferBudget): MessageGate {
  return new MessageGate({
    check: (message) => (message.toString().includes(BAD) ? REFUSED : null),
    hold: () => budget.hold('192.0.2.1'),
    cutOff: () => {},
  });
}

function run(bytes: Buffer, cuts: readonly number[], masked: boolean) {
  const budget = new BufferBudget(1 << 20);
  const scanner = new FrameScanner({ masked, deflate: false, maxMessageBytes: 1 << 20 });
  const gate = gateOf(budget);
  const passed: Buffer[] = [];
  let from = 0;
  for (const to of [...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length]) {
    const { lead, body } = scanner.scan(Buffer.from(bytes.subarray(from, to)));
    if (lead !== null) passed.push(...gate.pass(lead));
    passed.push(...gate.pass(body));
    from = to;
  }
  const { violation, closePassed } = gate;
  const held = budget.used;
  gate.release();
  expect(budget.used).toBe(0);
  return { passed: Buffer.concat(passed), violation, closePassed, held };
}

const part = fc.oneof(
  fc.constantFrom('', 'a', 'yes', 'n', 'o', BAD, 'ä'),
  fc.string({ minLength: 120, maxLength: 200 }).map((text) => text.replaceAll('n', 'm')),
);
const messages = fc.array(
  fc.record({
    parts: fc.array(part, { minLength: 1, maxLength: 4 }),
    pings: fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }),
  }),
  { maxLength: 5 },
);

it('passes what holds, in order, and nothing from a message on that does not', () => {
  fc.assert(
    fc.property(messages, fc.boolean(), fc.array(fc.nat(2500), { maxLength: 30 }), (given, masked, cuts) => {
      const expected: Buffer[] = [];
      let refused = false;
      const bytes: Buffer[] = [];
      for (const message of given) {
        const { all, data, control } = framesOf(message, masked);
        bytes.push(...all);
        if (refused) continue;
        expected.push(...control);
        refused = message.parts.join('').includes(BAD);
        if (!refused) expected.push(...data);
      }
      const close = frame(0x8, true, Buffer.from([0x03, 0xe8]), masked);
      if (!refused) expected.push(close);
      const found = run(Buffer.concat([...bytes, close]), cuts, masked);
      expect(found.passed.equals(Buffer.concat(expected))).toBe(true);
      expect(found).toMatchObject({ violation: refused ? REFUSED : null, closePassed: !refused, held: 0 });
    }),
    propertyRuns(2000),
  );
});

it('holds no more than the budget has room for, and ends if it is full', () => {
  const budget = new BufferBudget(100);
  const gate = gateOf(budget);
  const first = frame(1, false, Buffer.alloc(40, 'a'), true);
  expect(gate.pass(first)).toEqual([]);
  expect(budget.used).toBe(2 * first.length);
  expect(gate.pass(frame(0, false, Buffer.alloc(40, 'a'), true))).toEqual([]);
  expect(gate.violation).toMatchObject({ code: 1013 });
  expect(gate.pass(frame(0, true, Buffer.from('a'), true))).toEqual([]);
  gate.release();
  expect(budget.used).toBe(0);
});
