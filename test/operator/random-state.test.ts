/**
 * Random changes by users, faults between operator and API server, and an operator that is killed again and again:
 * once it is quiet, everything is as a fresh operator makes it of the same objects, and again when what did not compile
 * has been repaired. Needs KUBECONFIG.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestInfo } from '../../operator/src/kube/request-info.ts';
import { LONG, SEED } from '../property-runs.ts';
import { ApiProxy, type Fault } from './api-proxy.ts';
import { faultsOf } from './cluster-state.ts';
import { OperatorProcess } from './operator-process.ts';
import { REPAIR, sequences, take, untilSeen } from './random-steps.ts';
import { compare, notCompiling, twinOf } from './twin.ts';
import { User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';
const COUNT = LONG ? 3000 : 60;
/** Projects that share a namespace. */
const TOGETHER = 15;
/** Sequences at a time. */
const AT_ONCE = 60;
/** So long the operator is waited for after one change in four, so that it acts in between. */
const SEEN_MS = 8000;
/** Writes of the operator after which it is disturbed, or milliseconds without them. */
const ENOUGH_WRITES = 60;
const ENOUGH_MS = 30_000;
const RUN = randomBytes(3).toString('hex');
/** Both operators have written nothing for so long. */
const QUIET_MS = 5000;
/** Secrets are looked at every minute, and what was left to another manager is taken back after half of one. */
const LIMIT_MS = LONG ? 1_200_000 : 300_000;

/** One request in eight meets with something. */
function randomFault({ verb }: RequestInfo): Fault | undefined {
  const faults: readonly Fault[] = [
    { kind: 'drop', acted: false },
    { kind: 'drop', acted: true },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 409 },
    { kind: 'status', status: 429, retryAfter: 1 },
    { kind: 'delay', ms: 300 },
    ...(verb === 'watch' ? [{ kind: 'status', status: 410 } as const] : []),
  ];
  return Math.random() < 1 / 8 ? faults[Math.floor(Math.random() * faults.length)] : undefined;
}

describe.skipIf(missing !== '')(`whatever happens${missing}`, () => {
  const users: User[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  let home: User;

  async function operator(proxy: ApiProxy, label: string): Promise<OperatorProcess> {
    const selector = `gw.dev/random=${label}`;
    const started = await OperatorProcess.start(proxy.kubeconfig, [
      '--namespace',
      home.namespace,
      '--no-leader-election',
      '--workers',
      '8',
      '--namespace-selector',
      selector,
    ]);
    closing.push(() => started.stop('SIGKILL'));
    return started;
  }

  beforeAll(async () => {
    home = await User.start('random-home');
  });
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    for (const user of [home, ...users]) await user.leave();
    await home.api.close();
  });

  /** Until the operator has done something, so that it is disturbed in the midst of it. */
  async function working(proxy: ApiProxy): Promise<void> {
    const [enough, end] = [proxy.writes + ENOUGH_WRITES, performance.now() + ENOUGH_MS];
    while (proxy.writes < enough && performance.now() < end) await pause(100);
  }

  /** What is wrong once nothing has been written for a while: for as long as it may take until nothing is. */
  async function lasting(proxies: readonly ApiProxy[], look: () => Promise<readonly string[]>) {
    const end = performance.now() + LIMIT_MS;
    for (;;) {
      const quiet = proxies.every(({ lastWrite }) => Date.now() - lastWrite > QUIET_MS);
      const wrong = quiet ? await look() : ['an operator goes on writing'];
      if (wrong.length === 0 || performance.now() > end) return wrong;
      await pause(1000);
    }
  }

  it(
    `${COUNT} sequences (seed ${SEED}) end in the state that a fresh operator makes`,
    async () => {
      const key = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const spaces = Math.ceil(COUNT / TOGETHER);
      for (let n = 0; n < spaces; n++) users.push(await User.start('random', home.api, { 'gw.dev/random': RUN }));
      let faulty = true;
      const proxy = await ApiProxy.start({ record: false, fault: (info) => (faulty ? randomFault(info) : undefined) });
      closing.push(() => proxy.close());
      let running = await operator(proxy, RUN);
      let busy = true;
      const chaos = async () => {
        while (busy) {
          await working(proxy);
          proxy.cutWatches();
          await working(proxy);
          if (!busy) return;
          await running.stop('SIGKILL');
          running = await operator(proxy, RUN);
        }
      };
      const waiting = sequences(COUNT, SEED).entries();
      const work = async () => {
        for (const [n, steps] of waiting) {
          const user = users[n % users.length];
          if (!user) continue;
          for (const step of steps) {
            await take(step, user, `p${n}`, key);
            await (Math.random() < 1 / 4 ? untilSeen(user, `p${n}`, SEEN_MS) : pause(Math.random() * 300));
          }
        }
      };
      const done = Promise.all(Array.from({ length: AT_ONCE }, work)).finally(() => {
        busy = false;
      });
      await Promise.all([done, chaos()]);
      faulty = false;

      const pairs = await Promise.all(
        users.map(async (user) => ({ user, twin: await twinOf(user, { 'gw.dev/random': `${RUN}-twin` }) })),
      );
      users.push(...pairs.map(({ twin }) => twin));
      const fresh = await ApiProxy.start({ record: false });
      closing.push(() => fresh.close());
      await running.until('watching');
      await (await operator(fresh, `${RUN}-twin`)).until('watching');
      const wrong = async () => {
        const each = pairs.map(async ({ user, twin }) => [
          ...(await faultsOf(user)),
          ...(await faultsOf(twin)),
          ...(await compare(user, twin)),
        ]);
        return (await Promise.all(each)).flat();
      };
      expect(await lasting([proxy, fresh], wrong)).toEqual([]);

      // What did not compile was served on as it was before: with its cause gone, there is nothing of that left.
      const repair = async ({ user, twin }: (typeof pairs)[number]) => {
        for (const project of await notCompiling(twin))
          for (const step of REPAIR) for (const one of [user, twin]) await take(step, one, project, key);
      };
      await Promise.all(pairs.map(repair));
      const stillBroken = async () => {
        const found = await Promise.all(users.map(async (user) => [...(await notCompiling(user))]));
        const broken = found.flatMap((projects, n) => projects.map((name) => `${users[n]?.namespace} ${name}`));
        return broken.length > 0 ? [`these do not compile: ${broken.join(', ')}`] : wrong();
      };
      expect(await lasting([proxy, fresh], stillBroken)).toEqual([]);
    },
    LONG ? 3_600_000 : 900_000,
  );
});
