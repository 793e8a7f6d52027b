import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { eventually } from '../../../../../test/eventually.ts';
import type { CloseStatus } from '../../../../src/close-status.ts';
import { WebSocketInput } from './web-socket-input.ts';

/** A masked frame; its mask is zero. */
function frame(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** What a WebSocket does on which a client has sent these frames. */
async function sent(
  frames: Buffer,
): Promise<{ answer: CloseStatus | null | undefined; bytes: number; messages: number }> {
  const [client, connection] = duplexPair();
  const seen = { answer: undefined as CloseStatus | null | undefined, bytes: 0, messages: 0 };
  const input = new WebSocketInput(connection, {
    received: (bytes) => (seen.bytes += bytes),
    message: () => seen.messages++,
    closed: (answer) => (seen.answer ??= answer),
  });
  client.resume().write(frames);
  await eventually(() => expect(seen.bytes).toBe(frames.length));
  input.destroy();
  return seen;
}

const letter = Buffer.from('a');
it.each([
  { what: 'empty frames of a message', first: 0x00, begin: frame(0x01, letter), payload: Buffer.alloc(0) },
  { what: 'messages of a letter', first: 0x81, payload: letter },
  { what: 'pings', first: 0x89, payload: letter },
  { what: 'pongs', first: 0x8a, payload: letter },
])('closes with 1008 if thousands of $what come at once', async ({ first, begin = Buffer.alloc(0), payload }) => {
  const frames = Array.from({ length: 3_000 }, () => frame(first, payload));
  const { answer, messages } = await sent(Buffer.concat([begin, ...frames]));
  expect(answer).toMatchObject({ code: 1008 });
  // The slice of 4 KiB that has one too many is left out.
  expect(messages).toBeLessThanOrEqual(1_000);
});

it.each([
  { what: 'a thousand small messages', count: 1_000, payload: letter },
  { what: 'thousands of larger ones', count: 5_000, payload: Buffer.alloc(30) },
])('ignores $what', async ({ count, payload }) => {
  const frames = Buffer.concat(Array.from({ length: count }, () => frame(0x81, payload)));
  expect(await sent(frames)).toMatchObject({ answer: undefined, messages: count });
});
