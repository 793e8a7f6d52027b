/**
 * How long a deployment takes to reach many data planes, and the control plane's memory. The data planes are the
 * gateway's own link, each with a connection, a download and a verification of its own, all in this process.
 *
 *   node test/bench/data-planes.ts                       1,000 of them on one channel, in a process of its own
 *   node test/bench/data-planes.ts --planes 200
 *   node test/bench/data-planes.ts --url ws://a:9090 --url ws://b:9090 --project-id UUID --api-key KEY \
 *     --deploy http://a:9090/projects/UUID/deploy --artifact-id ID --token TOKEN      on running control planes
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ControlPlaneLink } from '../../gateway/src/link/index.ts';
import { compileSpec } from '../serve/gateway.ts';
import { KEY, PROJECT } from '../serve/link-server.ts';
import type { HostReply } from './data-planes-host.ts';

const { values } = parseArgs({
  options: {
    planes: { type: 'string', default: '1000' },
    url: { type: 'string', multiple: true },
    'project-id': { type: 'string', default: PROJECT },
    'api-key': { type: 'string', default: KEY },
    deploy: { type: 'string' },
    'artifact-id': { type: 'string' },
    token: { type: 'string' },
  },
});
const COUNT = Number(values.planes);

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

  constructor(urls: readonly string[]) {
    this.#links = Array.from({ length: COUNT }, (_, i) => this.#link(i, urls[i % urls.length] ?? ''));
  }

  start(): void {
    for (const link of this.#links) link.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.stop()));
  }

  #link(i: number, controlPlane: string): ControlPlaneLink {
    let served: string | null = null;
    return new ControlPlaneLink(
      {
        controlPlane,
        projectId: values['project-id'],
        apiKey: values['api-key'],
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
async function deploy(fleet: Fleet, ask: () => Promise<void>): Promise<void> {
  fleet.appliedAt = [];
  const from = performance.now();
  await ask();
  await all(() => fleet.appliedAt);
  const [half, most, last] = [0.5, 0.95, 1].map((part) => share(fleet.appliedAt, part, from));
  console.log(`deployed: ${half} ms to 50 %, ${most} ms to 95 %, ${last} ms to all; ${fleet.refusals} refusals`);
}

async function onOwnHost(): Promise<void> {
  const host = fork(join(import.meta.dirname, 'data-planes-host.ts'), { serialization: 'advanced' });
  const [listening]: HostReply[] = await once(host, 'message');
  if (listening?.kind !== 'listening') throw new Error('the host did not start');
  console.log(`host before: ${await figures(host)}`);
  const fleet = new Fleet([listening.url]);
  await run(fleet, async (number) => {
    const bytes = await artifact(`v${number}`);
    return async () => void host.send({ kind: 'deploy', artifact: bytes });
  });
  console.log(`host after: ${await figures(host)}`);
  await fleet.stop();
  host.disconnect();
}

async function onRunning(urls: readonly string[]): Promise<void> {
  const fleet = new Fleet(urls);
  const { deploy: url, token } = values;
  if (url === undefined) throw new Error('--url needs --deploy, --artifact-id and --token');
  await run(fleet, async () => async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ artifact_id: values['artifact-id'] }),
    });
    if (!response.ok) throw new Error(`${url} answered with ${response.status}: ${await response.text()}`);
  });
  await fleet.stop();
}

/** `prepare`: what asks for a deployment. One where what is deployed is the same each time. */
async function run(fleet: Fleet, prepare: (number: number) => Promise<() => Promise<void>>): Promise<void> {
  const from = performance.now();
  fleet.start();
  await all(() => fleet.connectedAt);
  console.log(
    `connected: ${share(fleet.connectedAt, 0.95, from)} ms to 95 %, ${share(fleet.connectedAt, 1, from)} ms to all`,
  );
  const rounds = values.url === undefined ? 3 : 1;
  for (let number = 1; number <= rounds; number++) await deploy(fleet, await prepare(number));
}

await (values.url === undefined ? onOwnHost() : onRunning(values.url));
