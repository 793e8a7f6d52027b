/**
 * Random changes by users, faults between operator and API server, and an operator that is killed again and again:
 * once it is quiet, everything is as a fresh operator makes it of the same objects. Needs KUBECONFIG.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestInfo } from '../../operator/src/runtime/request-info.ts';
import { ApiProxy, type Fault } from './api-proxy.ts';
import { faultsOf, isSettled, stateOf } from './cluster-state.ts';
import { OperatorProcess } from './operator-process.ts';
import { sequences, take } from './random-steps.ts';
import { type Kind, User } from './user.ts';

const missing = process.env['KUBECONFIG'] ? '' : ' (skipped: KUBECONFIG not set)';
const LONG = process.env['GW_TEST_LONG'] !== undefined;
const COUNT = LONG ? 3000 : 300;
const SEED = LONG ? randomBytes(3).readUIntBE(0, 3) : 20_260_101;
/** Projects that share a namespace. */
const TOGETHER = 15;
const RUN = randomBytes(3).toString('hex');
const USERS: readonly Kind[] = ['Secret', 'ConfigMap', 'PluginRef', 'ApiSpec', 'GatewayProject', 'Deployment'];

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

  /** Nothing has been written for so long. */
  const quiet = (proxy: ApiProxy, ms: number) =>
    vi.waitFor(() => expect(Date.now() - proxy.lastWrite).toBeGreaterThan(ms), { timeout: 300_000, interval: 500 });

  beforeAll(async () => {
    home = await User.start('random-home');
  });
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    for (const user of [home, ...users]) await user.leave();
    await home.api.close();
  });

  it(
    `${COUNT} sequences (seed ${SEED}) end in the state that a fresh operator makes`,
    async () => {
      const all = sequences(COUNT, SEED);
      const key = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const spaces = Math.ceil(COUNT / TOGETHER);
      for (let n = 0; n < spaces; n++) users.push(await User.start('random', home.api, { 'gw.dev/random': RUN }));
      let faulty = true;
      const proxy = await ApiProxy.start({ record: false, fault: (info) => (faulty ? randomFault(info) : undefined) });
      closing.push(() => proxy.close());
      let running = await operator(proxy, RUN);
      let busy = true;
      const chaos = (async () => {
        while (busy) {
          await pause(4000);
          proxy.cutWatches();
          await pause(4000);
          if (!busy) return;
          await running.stop('SIGKILL');
          running = await operator(proxy, RUN);
        }
      })();

      const waiting = all.entries();
      const work = async () => {
        for (const [n, steps] of waiting) {
          const user = users[n % users.length];
          if (!user) continue;
          for (const step of steps) {
            await take(step, user, `p${n}`, key);
            await pause(Math.random() * 300);
          }
        }
      };
      await Promise.all(Array.from({ length: 20 }, work));
      busy = false;
      await chaos;
      faulty = false;
      await running.until('watching');
      // Secrets are looked at every minute, and what was left to another manager is taken back after half of one.
      await pause(75_000);
      await quiet(proxy, 10_000);

      const twins = await Promise.all(users.map((user) => twinOf(user)));
      const fresh = await ApiProxy.start({ record: false });
      closing.push(() => fresh.close());
      await (await operator(fresh, `${RUN}-twin`)).until('watching');
      for (const twin of twins)
        await vi.waitFor(async () => expect(await isSettled(twin)).toBe(true), { timeout: 120_000, interval: 500 });
      fresh.lastWrite = Date.now();
      await quiet(fresh, 10_000);

      const differences: string[] = [];
      for (const [n, user] of users.entries()) {
        const twin = twins[n];
        if (!twin) continue;
        differences.push(...(await faultsOf(user)), ...(await compare(user, twin)));
      }
      expect(differences).toEqual([]);
    },
    LONG ? 1_800_000 : 600_000,
  );

  /** A namespace with what users declared in the other one. */
  async function twinOf(user: User): Promise<User> {
    const twin = await User.start('random-twin', home.api, { 'gw.dev/random': `${RUN}-twin` });
    closing.push(() => twin.leave());
    for (const kind of USERS) {
      for (const { metadata, kind: _, apiVersion: _a, status: _s, ...body } of await user.list(kind)) {
        if (metadata.ownerReferences || metadata.name === 'kube-root-ca.crt') continue;
        await twin.apply(kind, metadata.name, { ...body, metadata: { labels: metadata.labels ?? {} } });
      }
    }
    return twin;
  }
});

/** Where a project does not compile, what was served before goes on: then only what is said of it is compared. */
async function compare(user: User, twin: User): Promise<readonly string[]> {
  const [were, are] = [await stateOf(twin), await stateOf(user)];
  const differences: string[] = [];
  const compiles = new Map<string, boolean>();
  for (const { metadata } of await twin.list('GatewayProject'))
    compiles.set(
      metadata.name,
      (await twin.condition('GatewayProject', metadata.name, 'Compiled')) === 'True Compiled',
    );
  for (const name of new Set([...were.keys(), ...are.keys()])) {
    const project = /^\S+ (p\d+)/.exec(name)?.[1] ?? '';
    const [expected, actual] = [were.get(name), are.get(name)].map((value) => JSON.stringify(value));
    if (compiles.get(project) === false && !name.startsWith('PluginRef')) continue;
    if (expected !== actual) differences.push(`${user.namespace} ${name}\n  is     ${actual}\n  fresh  ${expected}`);
  }
  return differences;
}
