/** Clients that publish each message once, however often they have to ask, while its broker is killed again and again. */
import { expect } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { post } from '../../../../test/serve/sending.ts';

const CLIENTS = 8;

export interface Kills {
  readonly rounds: number;
  /** Messages that are accepted before each kill, and after the last. */
  readonly messages: number;
  /** Kills the broker, and starts it again. */
  restart(): Promise<void>;
}

export interface Published {
  /** Bodies that got 202. */
  readonly accepted: ReadonlySet<string>;
  /** How many answers had which status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** Through the operation of this name. Prints the statuses, and the slowest answer. */
export async function publishUnderKills(gw: Gateway, name: string, kills: Kills): Promise<Published> {
  const accepted = new Set<string>();
  const statuses = new Map<number, number>();
  let slowest = 0;
  let running = true;
  const client = async () => {
    while (running) {
      const id = crypto.randomUUID();
      // As a client does that wants its message published once.
      for (let status = 0; status !== 202 && running; ) {
        const from = performance.now();
        ({ status } = await post(gw, name, JSON.stringify(id), { 'idempotency-key': id }));
        slowest = Math.max(slowest, performance.now() - from);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 202) accepted.add(JSON.stringify(id));
      }
    }
  };
  const more = async () => {
    const before = accepted.size;
    await eventually(() => expect(accepted.size).toBeGreaterThan(before + kills.messages));
  };
  const clients = Array.from({ length: CLIENTS }, client);
  for (let round = 0; round < kills.rounds; round++) {
    await more();
    await kills.restart();
  }
  await more();
  running = false;
  await Promise.all(clients);
  process.stdout.write(`${JSON.stringify([...statuses])}, slowest ${slowest.toFixed(0)} ms\n`);
  return { accepted, statuses };
}
