/**
 * A control plane in the cluster, and a GatewayProject that is shown there and served from there: with PostgreSQL where
 * DATABASE_URL is this machine's, else with a database in the pod.
 */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readArtifact } from '@gw/gateway/artifact';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_URL, type UnopenedDatabase, unopenedDatabase } from '../control/database.ts';
import { eventually } from '../eventually.ts';
import { GW } from '../programs/gw.ts';
import { type InstalledOperator, image, LITTLE, missing, skipped } from './installed-operator.ts';
import { execute, lastingPods } from './kubectl.ts';
import { startLoad } from './load.ts';
import { reachable } from './reachable.ts';
import { type Relay, relayTo } from './relay.ts';
import { selfSigned } from './self-signed.ts';
import { sharedOperator } from './shared-operator.ts';

const root = join(import.meta.dirname, '..', '..');
const SIGNING = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const document = (body: string) => `openapi: 3.1.0
info: {title: Books, version: "1"}
paths:
  /books:
    get:
      x-gw-dispatch: {name: mock, config: {body: "${body}"}}
      responses: {"200": {description: OK}}
`;
const apiSpec = (body: string) =>
  JSON.stringify({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'ApiSpec',
    metadata: { name: 'books', labels: { app: 'books' } },
    spec: { source: { inline: document(body) } },
  });

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly artifact_id: string;
  readonly artifact_hash: string;
  readonly current_artifact_hash: string;
  readonly created_by: string;
  readonly signed: boolean;
  readonly key: string;
  readonly token: string;
  readonly revision: number;
}

describe.skipIf(missing.length > 0)(`a control plane in the cluster${skipped}`, () => {
  let op: InstalledOperator;
  let database: UnopenedDatabase | undefined;
  let relay: Relay | undefined;
  let api: string;
  let admin: string;
  let gateway: string;
  const release = 'gw-control';
  const trusting = new Agent({ connect: { rejectUnauthorized: false } });

  const ask = async <T = Shown>(path: string, json?: object, method = json ? 'POST' : 'GET'): Promise<T> => {
    const answer = await request(api + path, {
      method,
      dispatcher: trusting,
      headers: { authorization: `Bearer ${admin}`, ...(json ? { 'content-type': 'application/json' } : {}) },
      ...(json ? { body: JSON.stringify(json) } : {}),
    });
    const text = await answer.body.text();
    expect(answer.statusCode, `${path}: ${text}`).toBeLessThan(300);
    return JSON.parse(text);
  };
  const field = (path: string) => op.k.field('gatewayproject/books', path);
  const hash = () => field('{.status.artifactHash}');
  const at = async () => `/projects/${await field('{.status.controlPlane.projectId}')}`;
  const reason = (type: string) => field(`{.status.conditions[?(@.type=="${type}")].reason}`);
  const podNames = () => lastingPods(op.k, 'gw.dev/project=books');
  const answers = async () => (await request(`${gateway}/books`)).body.text();
  const apply = (body: string) => op.k.apply(apiSpec(body));

  beforeAll(async () => {
    op = await sharedOperator('control');
    const { k, namespace } = op;
    const values = ['replicas=1', 'database.embedded.enabled=true', 'database.embedded.size='];
    relay = DATABASE_URL === undefined ? undefined : await relayTo(Number(new URL(DATABASE_URL).port || 5432));
    if (relay) {
      database = await unopenedDatabase('postgres');
      const url = new URL(database.url);
      [url.hostname, url.port] = [relay.host, String(relay.port)];
      await k('create', 'secret', 'generic', 'gw-database', `--from-literal=url=${url.href}`);
      values.splice(0, 3, 'replicas=2', 'database.urlSecret.name=gw-database');
    }
    const host = `${release}.${namespace}.svc`;
    await k.apply(selfSigned('control-tls', [host]));
    const colon = image.lastIndexOf(':');
    await execute('helm', [
      ...['install', release, join(root, 'charts', 'control'), '-n', namespace, '--wait', '--timeout', '240s'],
      ...['--set-string', `image.tag=${image.slice(colon + 1)}`],
      ...[`image.repository=${image.slice(0, colon)}`, 'tls.secret=control-tls', ...values].flatMap((value) => [
        '--set',
        value,
      ]),
    ]);
    api = `https://${await k.field(`service/${release}`, '{.spec.clusterIP}')}:9090`;
    await reachable(api);
    const token = await k.field(`secret/${release}-admin-token`, '{.data.token}');
    admin = Buffer.from(token, 'base64').toString('utf8');
    const { token: own } = await ask('/tokens', { name: 'cluster', role: 'admin', project_id: null });
    const ca = Buffer.from(await k.field('secret/control-tls', '{.data.ca\\.crt}'), 'base64').toString('utf8');
    await k('create', 'secret', 'generic', 'control', `--from-literal=token=${own}`, `--from-literal=ca.crt=${ca}`);
    await k('label', 'secret', 'control', 'gw.dev/credential=true');
    await k('annotate', 'secret', 'control', `gw.dev/hosts=${host}:9090`);
    await k('create', 'secret', 'generic', 'signing', `--from-literal=signing.pem=${SIGNING}`);
    await apply('one');
    await k.apply(
      JSON.stringify({
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'GatewayProject',
        metadata: { name: 'books' },
        spec: {
          specs: { names: ['books'] },
          plugins: [{ name: 'mock' }],
          signing: { keySecret: { name: 'signing' } },
          controlPlane: { url: `https://${host}:9090`, secret: 'control' },
          pods: { replicas: 2, image, imagePullPolicy: 'IfNotPresent', resources: LITTLE },
        },
      }),
    );
    gateway = await eventually(async () => {
      const address = await k.field('service/books-gateway', '{.spec.clusterIP}');
      expect(address).not.toBe('');
      return `http://${address}`;
    });
  });

  afterAll(async () => {
    await trusting.close();
    await op?.uninstall();
    await database?.drop();
    await relay?.close();
  });

  it('answers helm test, and keeps its admin token over an upgrade', async () => {
    const upgrade = [
      'upgrade',
      release,
      join(root, 'charts', 'control'),
      '-n',
      op.namespace,
      '--reuse-values',
      '--wait',
    ];
    await execute('helm', upgrade);
    const kept = await op.k.field(`secret/${release}-admin-token`, '{.data.token}');
    expect(Buffer.from(kept, 'base64').toString('utf8')).toBe(admin);
    await execute('helm', ['test', release, '-n', op.namespace, '--timeout', '120s']);
  });

  it('serves without it until its pods have a key, and says how to get one', async () => {
    await op.k.condition('gatewayproject/books', 'Ready');
    await eventually(async () => expect(await reason('Synced')).toBe('DataPlaneKeyMissing'));
    expect(await field('{.status.conditions[?(@.type=="Synced")].message}')).toContain('gw-control api-keys create');
    await reachable(gateway);
    expect(await answers()).toBe('one');
  });

  it('shows specs, artifacts and deployments there, with one hash at every door and its signature', async () => {
    const { key } = await ask(`${await at()}/api-keys`, { name: 'cluster' });
    const patch = JSON.stringify({ stringData: { 'data-plane-key': key } });
    await op.k('patch', 'secret', 'control', '--type=merge', '-p', patch);
    await op.k.condition('gatewayproject/books', 'Synced', 'True', 150);
    await eventually(async () => {
      const planes = await ask<Shown[]>(`${await at()}/data-planes?status=connected`);
      expect(planes.map((plane) => plane.current_artifact_hash)).toEqual([await hash(), await hash()]);
    });
    await op.k.condition('gatewayproject/books', 'Ready');
    expect(await ask<Shown[]>(`${await at()}/specs`)).toMatchObject([{ name: 'books', revision: 1 }]);
    const [deployment] = await ask<Shown[]>(`${await at()}/deployments`);
    expect(deployment).toMatchObject({ artifact_hash: await hash(), created_by: 'token:cluster' });
    expect(await ask(`/artifacts/${deployment?.artifact_id}`)).toMatchObject({ signed: true, production: true });
    const { id } = await ask(`${await at()}/compile`, { production: true });
    await eventually(async () =>
      expect(await ask(`/compilations/${id}`)).toMatchObject({ artifact_hash: await hash() }),
    );
    expect(await compiledByCommand('one')).toBe(await hash());
  });

  it('takes a change to running pods, without a restart', async () => {
    // Those from before the key answer as before for as long as they drain.
    await eventually(async () =>
      expect((await op.k('get', 'pods', '-l', 'gw.dev/project=books', '-o', 'name')).trim().split('\n')).toHaveLength(
        2,
      ),
    );
    const [pods, before] = [await podNames(), await hash()];
    await apply('two');
    await eventually(async () => expect(await hash()).not.toBe(before));
    await eventually(async () => expect(await reason('Ready')).toBe('Ready'));
    // Twice beside other suites one answer came from before: which pod had that is not known, so what is known is said.
    const first = await answers();
    if (first !== 'two') console.log(`answered "${first}": ${await field('{.status}')}`, await podNames());
    await eventually(async () => expect(await answers()).toBe('two'));
    expect(await podNames()).toEqual(pods);
    expect(await field('{.status.controlPlane.deployedBy}')).toBe('operator');
  });

  it('shows a rollback by REST at once, and leaves it until the cluster asks for something else', async () => {
    const pods = await podNames();
    await ask(`${await at()}/rollback`, {});
    await eventually(async () => expect(await reason('Ready')).toBe('DeployedElsewhere'));
    expect(await field('{.status.controlPlane.deployedBy}')).toBe('admin');
    expect(await field('{.status.revision}')).toBe('1');
    await eventually(async () => expect(await answers()).toBe('one'));
    await op.k.apply(
      JSON.stringify({
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'Deployment',
        metadata: { name: 'again' },
        spec: { project: 'books', artifact: { revision: 2 } },
      }),
    );
    await op.k('wait', 'deployments.gw.dev/again', '--for=jsonpath={.status.outcome}=Succeeded', '--timeout=90s');
    expect(await answers()).toBe('two');
    await op.k('delete', 'deployments.gw.dev/again');
    expect(await podNames()).toEqual(pods);
  });

  it('serves on while it is away, and takes up what changed meanwhile', async () => {
    const replicas = await op.k.field(`deployment.apps/${release}`, '{.spec.replicas}');
    const load = startLoad(`${gateway}/books`, 20, {});
    try {
      await op.k('scale', `deployment.apps/${release}`, '--replicas=0');
      await eventually(async () => expect(await reason('Synced')).toBe('ControlPlaneAway'));
      await apply('three');
      await eventually(async () => expect(await field('{.status.latestRevision}')).toBe('3'));
      expect(await answers()).toBe('two');
      if (!relay) return;
      await op.k('scale', `deployment.apps/${release}`, `--replicas=${replicas}`);
      await eventually(async () => expect(await answers()).toBe('three'));
      await op.k.condition('gatewayproject/books', 'Synced');
      await op.k.condition('gatewayproject/books', 'Ready');
    } finally {
      await load.stop();
    }
    expect(load.sent).toBeGreaterThan(100);
    expect(load.failures).toEqual([]);
  });

  it('gives away neither token nor key', async () => {
    const secrets = await op.k('get', 'secret', 'control', '-o', 'json');
    const { data }: { data: Record<string, string> } = JSON.parse(secrets);
    const texts = [await op.logs(), await op.k('get', 'events', '-o', 'json'), await field('{}')];
    for (const name of ['token', 'data-plane-key']) {
      const value = Buffer.from(data[name] ?? '', 'base64').toString('utf8');
      expect(value.length).toBeGreaterThan(20);
      for (const text of texts) expect(text).not.toContain(value);
    }
  });
});

/** The hash that `gw compile` gives the same document and plugin. */
async function compiledByCommand(body: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-compile-'));
  try {
    await mkdir(join(folder, 'specs'));
    await writeFile(join(folder, 'specs', 'books.yaml'), document(body));
    await writeFile(join(folder, 'gw.yaml'), 'specs: specs\nplugins: {mock: {}}\n');
    await promisify(execFile)(process.execPath, [
      ...[GW, 'compile', '--production', '--manifest', join(folder, 'gw.yaml')],
      ...['--output', join(folder, 'books.gwa')],
    ]);
    return (await readArtifact(join(folder, 'books.gwa'))).manifest.artifact_hash;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
