import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { FrameScanner } from '../../../../../src/websocket/frame-scanner.ts';
import { EventReader } from './event-reader.ts';

const LIMIT = 300;

/** Of a server: a message in frames of these sizes, with a ping behind each of them. */
function frames(message: Buffer, size: number, pings: boolean): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < message.length; at += size) {
    const piece = message.subarray(at, at + size);
    const isLast = at + size >= message.length;
    const opcode = at === 0 ? 1 : 0;
    const length = piece.length < 126 ? [piece.length] : [126, piece.length >> 8, piece.length & 0xff];
    pieces.push(Buffer.from([(isLast ? 0x80 : 0) | opcode, ...length]), piece);
    if (pings) pieces.push(Buffer.from([0x89, 2, 1, 1]));
  }
  return Buffer.concat(pieces);
}

describe('messages of a WebSocket', () => {
  it('are read in whatever pieces they come, up to the limit', () => {
    const message = fc.record({
      bytes: fc.uint8Array({ maxLength: 2 * LIMIT }),
      size: fc.integer({ min: 1, max: 2 * LIMIT }),
      pings: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), fc.integer({ min: 1, max: 200 }), (messages, chunk) => {
        const read: Buffer[] = [];
        let tooLarge = 0;
        const reader = new EventReader({
          limit: LIMIT,
          message: (payload) => read.push(Buffer.from(payload)),
          tooLarge: () => tooLarge++,
        });
        const scanner = new FrameScanner({ masked: false, deflate: false, maxMessageBytes: 10 * LIMIT });
        const bytes = Buffer.concat(messages.map((each) => frames(Buffer.from(each.bytes), each.size, each.pings)));
        for (let at = 0; at < bytes.length; at += chunk) {
          const { lead, body } = scanner.scan(bytes.subarray(at, at + chunk));
          if (lead !== null) reader.read(lead);
          reader.read(body);
        }
        expect(scanner.violation).toBeNull();
        const all = messages.map((each) => Buffer.from(each.bytes));
        expect(read).toEqual(all.filter(({ length }) => length <= LIMIT));
        expect(tooLarge).toBe(all.filter(({ length }) => length > LIMIT).length);
      }),
      propertyRuns(200),
    );
  });
});
