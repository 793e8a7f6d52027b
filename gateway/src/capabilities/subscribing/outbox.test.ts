import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
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

const frames = (text: string) => ({ bytes: Buffer.from(text), messages: 1 });

it('writes while the client reads, and keeps the order and a limit while it does not', async () => {
  const client = new Client();
  const outbox = new Outbox(client, { messages: 2, bytes: 1_000 });
  expect(['a', 'b', 'c'].map((text) => outbox.offer(frames(text)))).toEqual([true, true, true]);
  expect(outbox.isEmpty).toBe(false);
  for (let i = 0; i < 3; i++) await client.read();
  expect(client.got).toEqual(['a', 'b', 'c']);
  expect(outbox.isEmpty).toBe(true);
  expect([outbox.messages, outbox.bytes]).toEqual([3, 3]);
  expect(['d', 'e', 'f', 'g'].map((text) => outbox.offer(frames(text)))).toEqual([true, true, true, false]);
});

it('has a limit on bytes as well', () => {
  const outbox = new Outbox(new Client(), { messages: 10, bytes: 3 });
  expect(['a', 'bb', 'c', 'd'].map((text) => outbox.offer(frames(text)))).toEqual([true, true, true, false]);
});

it('keeps what comes behind what is written first', async () => {
  const client = new Client();
  const outbox = new Outbox(client, { messages: 10, bytes: 100 });
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
  const outbox = new Outbox(new Client(), { messages: 10, bytes: 100 });
  const written = outbox.write(frames('a'));
  outbox.close();
  await written;
  await outbox.write(frames('b'));
  expect(outbox.bytes).toBe(1);
});
