import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { BufferBudget } from '../../../../src/memory/buffer-budget.ts';
import { Frames } from './frames.ts';
import { Outbox } from './outbox.ts';

/** A client that reads when it is told to. */
class Client extends Writable {
  readonly got: string[] = [];
  #next: (() => void) | null = null;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.got.push(chunk.toString());
    this.#next = done;
  }

  async read(): Promise<void> {
    const next = this.#next;
    this.#next = null;
    next?.();
    await new Promise(setImmediate);
  }
}

const frames = (text: string) => new Frames(Buffer.from(text), 1);
const unlimited = { hold: () => null, cut: () => {} };

it('writes while the client reads, and keeps the order and a limit while it does not', async () => {
  const client = new Client();
  const outbox = new Outbox({ sink: client, inPieces: true }, { messages: 2, bytes: 1_000 }, unlimited);
  expect(['a', 'b', 'c'].map((text) => outbox.offer(frames(text)))).toEqual([true, true, true]);
  expect(outbox.isEmpty).toBe(false);
  for (let i = 0; i < 3; i++) await client.read();
  expect(client.got).toEqual(['a', 'b', 'c']);
  expect(outbox.isEmpty).toBe(true);
  expect([outbox.messages, outbox.bytes]).toEqual([3, 3]);
  expect(['d', 'e', 'f', 'g'].map((text) => outbox.offer(frames(text)))).toEqual([true, true, true, false]);
});

it('has a limit on bytes as well', () => {
  const outbox = new Outbox({ sink: new Client(), inPieces: true }, { messages: 10, bytes: 3 }, unlimited);
  expect(['a', 'bb', 'c', 'd'].map((text) => outbox.offer(frames(text)))).toEqual([true, true, true, false]);
});

it('keeps what comes behind what is written first', async () => {
  const client = new Client();
  const outbox = new Outbox({ sink: client, inPieces: true }, { messages: 10, bytes: 100 }, unlimited);
  outbox.hold();
  outbox.offer(frames('later'));
  const written = outbox.write(frames('first'));
  await client.read();
  await written;
  outbox.release();
  await client.read();
  expect(client.got).toEqual(['first', 'later']);
  outbox.hold();
  outbox.offer(frames('never'));
  outbox.forget();
  outbox.offer(frames('last'));
  await client.read();
  expect(client.got).toEqual(['first', 'later', 'last']);
});

it('lets nobody wait for a client that has left', async () => {
  const outbox = new Outbox({ sink: new Client(), inPieces: true }, { messages: 10, bytes: 100 }, unlimited);
  const written = outbox.write(frames('a'));
  outbox.close();
  await written;
  await outbox.write(frames('b'));
  expect(outbox.bytes).toBe(1);
});

it('counts what waits for its client in a budget until it has it, and cuts it off without room', async () => {
  const budget = new BufferBudget(1_000);
  const client = new Client();
  const reader = { hold: () => budget.hold('192.0.2.1'), cut: () => outbox.drop() };
  const outbox = new Outbox({ sink: client, inPieces: true }, { messages: 10, bytes: 10_000 }, reader);
  expect(['a', 'b'].map((text) => outbox.offer(frames(text)))).toEqual([true, true]);
  expect(budget.used).toBeGreaterThan(0);
  await client.read();
  await client.read();
  expect(budget.used).toBe(0);
  expect(outbox.offer(frames('c'))).toBe(true);
  expect(outbox.offer(frames('d'.repeat(1_000)))).toBe(false);
  outbox.close();
  // What has been written is still in memory.
  expect(budget.used).toBeGreaterThan(0);
  outbox.drop();
  expect(budget.used).toBe(0);
  const late = new Outbox(
    { sink: new Client(), inPieces: true },
    { messages: 10, bytes: 10_000 },
    { ...reader, cut: () => late.drop() },
  );
  await late.write(frames('e'.repeat(1_000)));
  expect([late.offer(frames('f')), late.messages]).toEqual([true, 1]);
});

it('writes long frames in pieces, and the rest of what has begun when it closes', async () => {
  const client = new Client();
  const outbox = new Outbox({ sink: client, inPieces: true }, { messages: 10, bytes: 1_000_000 }, unlimited);
  const lengths = () => client.got.map(({ length }) => length);
  outbox.offer(frames('x'.repeat(150_000)));
  outbox.offer(frames('next'));
  expect(lengths()).toEqual([65_536]);
  await client.read();
  expect(lengths()).toEqual([65_536, 65_536]);
  outbox.close();
  for (let i = 0; i < 2; i++) await client.read();
  expect(lengths()).toEqual([65_536, 65_536, 150_000 - 2 * 65_536]);
});
