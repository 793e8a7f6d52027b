/** Recordings of bodies: at whose pace, and whose memory they take. */
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { recordedExchange } from '../../../sdk/testing/recorder.ts';
import type { Exchange } from '../../../src/exchange.ts';
import { BufferBudget } from '../../../src/memory/buffer-budget.ts';
import { Recording, RecordingSink } from './recording.ts';

const KIB = 1 << 10;

/** A response that is recorded on its way to a client which takes nothing, until it is told to. */
function recorded({ budget = new BufferBudget(KIB * KIB), limit = 100 * KIB, clientIp = '192.0.2.1' } = {}) {
  const exchange: Exchange = recordedExchange({ clientIp });
  exchange.responseMemory = budget;
  const outcomes: string[] = [];
  exchange.giveWay = () => void outcomes.push('cut off');
  const taken: (() => void)[] = [];
  const client = new Writable({ highWaterMark: KIB, write: (_chunk, _encoding, done) => void taken.push(done) });
  const recording = new Recording(
    exchange,
    limit,
    (body) => outcomes.push(`whole ${body.length}`),
    (why) => outcomes.push(why),
  );
  const sink = new RecordingSink(client, recording);
  const read = async () => {
    for (let next = taken.shift(); next !== undefined; next = taken.shift()) {
      next();
      await new Promise(setImmediate);
    }
  };
  return { exchange, budget, outcomes, sink, read };
}

/** Writes so many KiB, and resolves when all of them were accepted, or with false if the sink wants a pause first. */
async function write(sink: Writable, kib: number): Promise<boolean> {
  let accepted = 0;
  for (let i = 0; i < kib; i++) sink.write(Buffer.alloc(KIB, i), () => accepted++);
  await new Promise(setImmediate);
  return accepted === kib;
}

describe('a recording', () => {
  it('goes on while its client takes nothing, and what waits for the client counts until it has it', async () => {
    const { sink, budget, outcomes } = recorded();
    expect(await write(sink, 50)).toBe(true);
    sink.end();
    await new Promise(setImmediate);
    expect([outcomes, budget.used]).toEqual([[`whole ${50 * KIB}`], 50 * KIB]);
  });

  it('gives its memory back when the response is complete, or the client has it before its end', async () => {
    const complete = recorded();
    await write(complete.sink, 50);
    complete.sink.end();
    complete.exchange.close();
    expect(complete.budget.used).toBe(0);
    const large = recorded({ limit: 10 * KIB });
    await write(large.sink, 12);
    expect(large.budget.used).toBe(10 * KIB);
    await large.read();
    expect([large.outcomes, large.budget.used]).toEqual([['too-large'], 0]);
  });

  it('lets the upstream wait for the client once it is too large, or there is no room for it', async () => {
    const large = recorded({ limit: 10 * KIB });
    expect(await write(large.sink, 12)).toBe(false);
    expect(large.outcomes).toEqual(['too-large']);
    const crowded = recorded({ budget: new BufferBudget(10 * KIB) });
    expect(await write(crowded.sink, 12)).toBe(false);
    expect(crowded.outcomes).toEqual(['no-room']);
    await crowded.read();
    expect(crowded.budget.used).toBe(0);
  });

  it('takes its client’s share: of the client that holds most it gives way to others', async () => {
    const budget = new BufferBudget(60 * KIB);
    const greedy = recorded({ budget, clientIp: '192.0.2.66' });
    await write(greedy.sink, 50);
    const other = recorded({ budget });
    expect(await write(other.sink, 20)).toBe(true);
    other.sink.end();
    await new Promise(setImmediate);
    expect(greedy.outcomes).toEqual(['no-room', 'cut off']);
    expect(other.outcomes).toEqual([`whole ${20 * KIB}`]);
  });

  it('gives way without its response if the client has what has passed', async () => {
    const budget = new BufferBudget(60 * KIB);
    const quick = recorded({ budget, clientIp: '192.0.2.66' });
    await write(quick.sink, 50);
    await quick.read();
    await write(recorded({ budget }).sink, 20);
    expect(quick.outcomes).toEqual(['no-room']);
  });
});
