import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writeWithBackpressure } from './write-with-backpressure.ts';

/** A sink that is full after each write until `drain`. */
function fullSink() {
  let drain = () => {};
  const sink = new Writable({
    highWaterMark: 1,
    write(_chunk, _encoding, done) {
      drain = done;
    },
  });
  return { sink, drain: () => drain() };
}

function client() {
  const events = new EventEmitter();
  return {
    closed: false,
    events,
    onClose(listener: () => void) {
      events.on('close', listener);
      return () => events.off('close', listener);
    },
  };
}

const listeners = (sink: Writable) => sink.listenerCount('drain') + sink.listenerCount('close');

describe('a write to a full sink', () => {
  it.each([
    ['takes more', ({ drain }: ReturnType<typeof fullSink>) => drain()],
    ['has closed', ({ sink }: ReturnType<typeof fullSink>) => sink.destroy()],
    ['has lost its client', (_: unknown, { events }: ReturnType<typeof client>) => events.emit('close')],
  ])('ends when it %s, and leaves no listener', async (_, happens) => {
    const [full, waiting] = [fullSink(), client()];
    const before = listeners(full.sink);
    let isOver = false;
    const writing = writeWithBackpressure(full.sink, 'text', waiting).then(() => {
      isOver = true;
    });
    await Promise.resolve();
    expect(isOver).toBe(false);
    happens(full, waiting);
    await writing;
    expect([listeners(full.sink), waiting.events.listenerCount('close')]).toEqual([before, 0]);
  });
});

it('writes nothing for a client that has gone', async () => {
  const { sink } = fullSink();
  await writeWithBackpressure(sink, 'text', { ...client(), closed: true });
  expect(sink.writableLength).toBe(0);
});
