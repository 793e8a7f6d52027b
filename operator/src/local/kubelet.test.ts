import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { configMaps, pods, secrets, services, workloads } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { Kubelet } from './kubelet.ts';
import { MemoryObjects } from './memory-objects.ts';
import { Services } from './services.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ECHO = `
import { createServer, get } from 'node:http';
const server = createServer((request, response) => {
  if (request.url === '/via') {
    get({ host: process.env.PEER, port: 9090, path: '/' }, (answer) => answer.pipe(response));
    return;
  }
  response.end(process.env.TEXT + ' ' + process.env.SECRET);
}).listen(Number(process.env.PORT));
process.on('SIGTERM', () => { server.close(() => process.exit(0)); server.closeIdleConnections(); });
`;

async function start(allowCommands = true) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'gw-kubelet-')));
  const objects = new MemoryObjects();
  const failures: string[] = [];
  const hostsFile = join(root, 'hosts.json');
  const kubelet = new Kubelet({
    objects,
    root,
    hostsFile,
    imageFiles: new Map([['/app/server.mjs', 'unused']]),
    allowCommands,
    inherited: {},
    onLine: () => undefined,
    onFailure: (_, reason) => failures.push(reason),
  });
  const addresses = new Map<string, string>();
  const relays = new Services({
    objects,
    kubelet,
    listen: { host: '127.0.0.1', port: 0 },
    hostsFile,
    onListening: (service, address) => addresses.set(service.metadata.name, address),
    onAdmin: (service, address) => addresses.set(`admin of ${service.metadata.name}`, address),
    onFailure: (_, reason) => failures.push(reason),
  });
  closing.push(async () => {
    await relays.close();
    await kubelet.close();
    await rm(root, { recursive: true });
  });
  return { objects, addresses, failures, root };
}

const named = (apiVersion: string, kind: string, name: string, body: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'default' },
  ...body,
});

function workload(name: string, text: string, more: object = {}): KubeObject {
  return named('apps/v1', 'Deployment', name, {
    spec: {
      replicas: 2,
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            {
              name: 'server',
              command: ['node', '/srv/server.mjs'],
              env: [
                { name: 'PORT', value: '9090' },
                { name: 'TEXT', value: text },
                { name: 'PEER', value: 'echo.default.svc' },
                { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } },
              ],
              ports: [{ name: 'http', containerPort: 9090 }],
              readinessProbe: { httpGet: { path: '/', port: 'http' } },
              volumeMounts: [{ name: 'server', mountPath: '/srv' }],
              ...more,
            },
          ],
          volumes: [{ name: 'server', configMap: { name: 'server' } }],
        },
      },
    },
  });
}

async function applyEcho(objects: MemoryObjects, text = 'one'): Promise<void> {
  await objects.apply(configMaps, named('v1', 'ConfigMap', 'server', { data: { 'server.mjs': ECHO } }));
  await objects.apply(
    secrets,
    named('v1', 'Secret', 'keys', { data: { k: Buffer.from('s3cret').toString('base64') } }),
  );
  await objects.apply(
    services,
    named('v1', 'Service', 'echo', {
      spec: { selector: { app: 'echo' }, ports: [{ port: 9090, targetPort: 'http' }] },
    }),
  );
  await objects.apply(workloads, workload('echo', text));
}

function ask(address: string, path = '/', agent = new Agent()): Promise<string> {
  const [host, port] = address.split(':');
  return new Promise((resolve, reject) => {
    get({ host, port, path, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve(body));
      response.on('error', reject);
    }).on('error', reject);
  });
}

async function addressOf(addresses: ReadonlyMap<string, string>, name: string): Promise<string> {
  await eventually(() => expect(addresses.has(name)).toBe(true));
  return addresses.get(name) ?? '';
}

describe('pods as processes', () => {
  it('run with their volumes, secrets and ports, and find Services by name', async () => {
    const { objects, addresses } = await start();
    await applyEcho(objects);
    const address = await addressOf(addresses, 'echo');
    expect(await ask(address)).toBe('one s3cret');
    expect(await ask(address, '/via')).toBe('one s3cret');
    await eventually(async () => {
      const found = await objects.list(pods, { namespace: 'default', labels: { app: 'echo' } });
      expect(found.map(({ status }) => status?.conditions?.[0]?.status)).toEqual(['True', 'True']);
    });
  });

  it('change without a request that fails, and leave nothing behind', async () => {
    const { objects, addresses, root } = await start();
    await applyEcho(objects);
    const address = await addressOf(addresses, 'echo');
    const answers: string[] = [];
    let failed = 0;
    let stop = false;
    const load = (async () => {
      while (!stop)
        await ask(address).then(
          (text) => answers.push(text),
          () => failed++,
        );
    })();
    await eventually(() => expect(answers).toContain('one s3cret'));
    await objects.apply(workloads, workload('echo', 'two'));
    await eventually(async () => {
      expect(answers.at(-1)).toBe('two s3cret');
      expect(await objects.list(pods, { namespace: 'default' })).toHaveLength(2);
    });
    stop = true;
    await load;
    expect(failed).toBe(0);
    await objects.remove(workloads, { namespace: 'default', name: 'echo' });
    await eventually(async () => {
      expect(await objects.list(pods, { namespace: 'default' })).toEqual([]);
      expect((await readdir(root)).filter((name) => name.startsWith('echo-'))).toEqual([]);
    });
  });

  it('that fail keep the old ones serving, and say why', async () => {
    const { objects, addresses, failures } = await start();
    await applyEcho(objects);
    const address = await addressOf(addresses, 'echo');
    expect(await ask(address)).toBe('one s3cret');
    await objects.apply(
      workloads,
      workload('echo', 'three', { command: ['node', '--input-type=module', '-e', 'throw new Error("broken")'] }),
    );
    await eventually(() => expect(failures.some((reason) => reason.startsWith('exit 1'))).toBe(true));
    expect(await ask(address)).toBe('one s3cret');
    const found = await objects.list(pods, { namespace: 'default' });
    expect(
      found.some(({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.message?.includes('exit 1')),
    ).toBe(true);
  });

  it('wait for a Secret that is not there yet', async () => {
    const { objects, addresses, failures } = await start();
    await applyEcho(objects);
    await objects.remove(secrets, { namespace: 'default', name: 'keys' });
    await objects.apply(workloads, workload('echo', 'late'));
    await eventually(() => expect(failures).toContain('Secret "keys" is not in namespace "default"'));
    await objects.apply(secrets, named('v1', 'Secret', 'keys', { data: { k: Buffer.from('now').toString('base64') } }));
    const address = await addressOf(addresses, 'echo');
    await eventually(async () => expect(await ask(address)).toBe('late now'));
  });

  it('get what a Secret that they mount has become, and run on', async () => {
    const { objects, root } = await start();
    await applyEcho(objects);
    await objects.apply(secrets, named('v1', 'Secret', 'files', { data: { body: 'b25l' } }));
    const mounting = JSON.parse(JSON.stringify(workload('echo', 'one')));
    mounting.spec.replicas = 1;
    mounting.spec.template.spec.volumes.push({ name: 'files', secret: { secretName: 'files' } });
    await objects.apply(workloads, mounting);
    const running = async () =>
      (await objects.list(pods, { namespace: 'default' })).filter(({ status }) => status?.phase === 'Running');
    const bodies = async () => {
      const names = (await running()).map(({ metadata }) => metadata.name);
      return Promise.all(names.map((name) => readFile(join(root, name, 'files', 'body'), 'utf8').catch(() => '')));
    };
    await eventually(async () => expect(await bodies()).toEqual(['one']));
    const [before] = await running();
    await objects.apply(secrets, named('v1', 'Secret', 'files', { data: { body: 'dHdv' } }));
    await eventually(async () => expect(await bodies()).toEqual(['two']));
    expect((await running()).map(({ metadata }) => metadata.name)).toEqual([before?.metadata.name]);
  });
});

it('runs no command of a manifest, and says what would allow it, unless it is told to', async () => {
  const { objects, failures } = await start(false);
  await applyEcho(objects);
  await eventually(() => expect(failures.join()).toContain('it comes from a manifest'));
  expect(failures.join()).toContain('--allow-commands');
});
