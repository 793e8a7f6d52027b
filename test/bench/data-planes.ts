/**
 * How long a deployment takes to reach many data planes, and the control plane's memory. The data planes are the
 * gateway's own link, each with a connection, a download and a verification of its own, all in this process.
 *
 *   node test/bench/data-planes.ts                       1,000 of them on one channel, in a process of its own
 *   node test/bench/data-planes.ts --planes 200
 *   DATABASE_URL=postgres://… node test/bench/data-planes.ts --replicas 2
 *                                                        on as many gw-control processes, which share them;
 *                                                        --main dist/image/gw-control.js: as the image has it;
 *                                                        --node-options=--max-semi-space-size=4: with less garbage
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ControlPlaneLink, type LinkOptions } from '../../gateway/src/link/index.ts';
import { emptyDatabase } from '../control/database.ts';
import { Project } from '../control/fleet.ts';
import { startControl } from '../control/server.ts';
import { compileSpec } from '../serve/gateway.ts';
import { KEY, PROJECT } from '../serve/link-server.ts';
import type { HostReply } from './data-planes-host.ts';

const { values } = parseArgs({
  options: {
    planes: { type: 'string', default: '1000' },
    replicas: { type: 'string', default: '0' },
    main: { type: 'string' },
    'node-options': { type: 'string' },
  },
});
const COUNT = Number(values.planes);
const ROUNDS = 3;

/** What data planes are started with. */
interface Way {
  readonly urls: readonly string[];
  readonly projectId: string;
  readonly apiKey: string;
}

/** When the given share of all times had come, in milliseconds since `from`. */
function share(times: readonly number[], part: number, from: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round((sorted[Math.ceil(part * COUNT) - 1] ?? Number.NaN) - from);
}

class Fleet {
  readonly connectedAt: number[] = [];
  /** Of what is being deployed. */
  appliedAt: number[] = [];
  refusals = 0;
  readonly #links: ControlPlaneLink[];

  constructor({ urls, projectId, apiKey }: Way) {
    this.#links = Array.from({ length: COUNT }, (_, i) =>
      this.#link(i, { controlPlane: urls[i % urls.length] ?? '', projectId, apiKey }),
    );
  }

  start(): void {
    for (const link of this.#links) link.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.stop()));
  }

  #link(i: number, way: Pick<LinkOptions, 'controlPlane' | 'projectId' | 'apiKey'>): ControlPlaneLink {
    let served: string | null = null;
    return new ControlPlaneLink(
      {
        ...way,
        name: `bench-${i}`,
        labels: {},
        instanceId: `bench-${i}`,
        trustedKeys: [],
      },
      {
        served: () => served,
        load: async ({ artifact }) => {
          served = artifact.manifest.artifact_hash;
          this.appliedAt.push(performance.now());
        },
        connected: () => this.connectedAt.push(performance.now()),
        disconnected: (why) => void process.stderr.write(`bench-${i}: ${why}\n`),
        refused: (_notice, error) => {
          this.refusals++;
          process.stderr.write(`bench-${i}: ${error.message}\n`);
        },
        drift: () => {},
      },
    );
  }
}

/** Until all have come, or a minute has passed. */
async function all(times: () => readonly number[]): Promise<void> {
  const until = performance.now() + 60_000;
  while (times().length < COUNT && performance.now() < until) await wait(20);
}

function artifact(body: string): Promise<Uint8Array> {
  const operation = { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock', config: { body } } };
  return compileSpec({ openapi: '3.1.0', info: { title: 'B', version: '1' }, paths: { '/a': { get: operation } } }, [
    'mock',
  ]);
}

async function figures(host: ChildProcess): Promise<string> {
  host.send({ kind: 'figures' });
  const [reply]: HostReply[] = await once(host, 'message');
  return reply?.kind === 'figures' ? `${reply.rssMb} MB, ${reply.connected} connected, ${reply.applied} applied` : '';
}

/** Says when it had reached how many. */
async function deploy(fleet: Fleet, ask: () => Promise<() => Promise<void>>): Promise<void> {
  fleet.appliedAt = [];
  const from = performance.now();
  const before = process.cpuUsage();
  const ended = await ask();
  await all(() => fleet.appliedAt);
  const { user, system } = process.cpuUsage(before);
  const [half, most, last] = [0.5, 0.95, 1].map((part) => share(fleet.appliedAt, part, from));
  console.log(`deployed: ${half} ms to 50 %, ${most} ms to 95 %, ${last} ms to all; ${fleet.refusals} refusals`);
  console.log(`the data planes themselves took ${((user + system) / 1e6).toFixed(2)} s of CPU`);
  await ended();
}

async function onOwnHost(): Promise<void> {
  const host = fork(join(import.meta.dirname, 'data-planes-host.ts'), { serialization: 'advanced' });
  const [listening]: HostReply[] = await once(host, 'message');
  if (listening?.kind !== 'listening') throw new Error('the host did not start');
  console.log(`host before: ${await figures(host)}`);
  const fleet = new Fleet({ urls: [listening.url], projectId: PROJECT, apiKey: KEY });
  await run(fleet, async (number) => {
    const bytes = await artifact(`v${number}`);
    return async () => {
      host.send({ kind: 'deploy', artifact: bytes });
      return async () => {};
    };
  });
  console.log(`host after: ${await figures(host)}`);
  await fleet.stop();
  host.disconnect();
}

/** Of a process, so far. */
function usage(pid: number): string {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const [user = 0, system = 0] =
    readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
  return `${Math.round(Number(kilobytes) / 1024)} MB and ${(user + system) / 100} s of CPU`;
}

async function onReplicas(count: number): Promise<void> {
  const database = await emptyDatabase('postgres');
  const { main, 'node-options': nodeOptions } = values;
  const start = () =>
    startControl({
      databaseUrl: database.url,
      ...(main === undefined ? {} : { main }),
      ...(nodeOptions === undefined ? {} : { env: { NODE_OPTIONS: nodeOptions } }),
    });
  const first = await start();
  const others = Array.from({ length: count - 1 }, start);
  const replicas = [first, ...(await Promise.all(others))];
  const report = (when: string) => console.log(`replicas ${when}: ${replicas.map(({ pid }) => usage(pid)).join('; ')}`);
  const project = await Project.create(first);
  const artifacts: string[] = [];
  for (let number = 1; number <= ROUNDS; number++) artifacts.push((await project.compile(`v${number}`)).id);
  report('before');
  const urls = replicas.map(({ url }) => url.replace(/^http/, 'ws'));
  const fleet = new Fleet({ urls, projectId: project.id, apiKey: project.key });
  await run(fleet, async (number) => async () => {
    if (number === 1) report('with all connected');
    const { deployment_id } = await project.deploy(artifacts[number - 1] ?? '');
    return async () => {
      const { status, applied } = await project.ended({ deployment_id }, 120_000);
      report(`after deployment ${number} ${status}, ${applied} applied`);
    };
  });
  await fleet.stop();
  await Promise.all(replicas.map((replica) => replica.stop()));
  await database.drop();
}

/** `prepare`: what asks for a deployment. */
async function run(
  fleet: Fleet,
  prepare: (number: number) => Promise<() => Promise<() => Promise<void>>>,
): Promise<void> {
  const from = performance.now();
  fleet.start();
  await all(() => fleet.connectedAt);
  console.log(
    `connected: ${share(fleet.connectedAt, 0.95, from)} ms to 95 %, ${share(fleet.connectedAt, 1, from)} ms to all`,
  );
  for (let number = 1; number <= ROUNDS; number++) await deploy(fleet, await prepare(number));
}

await (Number(values.replicas) > 0 ? onReplicas(Number(values.replicas)) : onOwnHost());
