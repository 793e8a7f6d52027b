/**
 * Artifacts in registries on a real cluster. Needs KUBECONFIG, the image in the cluster as GW_E2E_IMAGE, kubectl,
 * docker-registry, and a cluster whose node is this machine; for image volumes a registry that its container runtime
 * speaks plain HTTP with, GW_E2E_REGISTRY (default 127.0.0.1:5000).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { EgressGuard } from '@gw/gateway/egress';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RegistryClient } from '../../operator/src/registry/client.ts';
import { parseDockerConfig } from '../../operator/src/registry/docker-config.ts';
import { parseReference } from '../../operator/src/registry/reference.ts';
import { type DockerRegistry, hasDockerRegistry, startDockerRegistry, USER } from '../docker-registry.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { DRAIN_SECONDS, execute, kubectl } from './kubectl.ts';
import { startLoad } from './load.ts';

const image = process.env['GW_E2E_IMAGE'] ?? '';
const nodeRegistry = process.env['GW_E2E_REGISTRY'] ?? '127.0.0.1:5000';
const node = await nodeAddress();
const missing = [
  ...['KUBECONFIG', 'GW_E2E_IMAGE'].filter((name) => !process.env[name]),
  ...(hasDockerRegistry ? [] : ['docker-registry']),
  ...(node ? [] : ['a node that is this machine']),
  ...((await answers(nodeRegistry)) ? [] : [`a registry at ${nodeRegistry}`]),
];
const namespace = `gw-oci-${randomBytes(3).toString('hex')}`;
const k = kubectl(namespace);

/** The address of a node, where it is one of this machine: pods and operator then mean the same by it. */
async function nodeAddress(): Promise<string | undefined> {
  if (!process.env['KUBECONFIG']) return undefined;
  const path = '{.items[*].status.addresses[?(@.type=="InternalIP")].address}';
  const addresses = (await execute('kubectl', ['get', 'nodes', '-o', `jsonpath=${path}`])).split(' ');
  const ours = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  return addresses.find((address) => ours.includes(address));
}

async function answers(registry: string): Promise<boolean> {
  return fetch(`http://${registry}/v2/`).then(
    ({ ok }) => ok,
    () => false,
  );
}

const apiSpec = (body: string) => `
apiVersion: gw.dev/v1alpha1
kind: ApiSpec
metadata: { name: shop }
spec:
  source:
    inline: |
      openapi: 3.1.0
      info: { title: Shop, version: 1.0.0 }
      paths:
        /hello:
          get:
            operationId: hello
            x-gw-dispatch: { name: mock, config: { body: "${body}" } }
            responses: { '200': { description: ok } }
`;

const project = (name: string, storage: object) => `
apiVersion: gw.dev/v1alpha1
kind: GatewayProject
metadata: { name: ${name} }
spec:
  specs: { names: [shop] }
  plugins: [{ name: mock }]
  revisionHistoryLimit: 1
  serve: { drainDelay: ${DRAIN_SECONDS} }
  storage: ${JSON.stringify(storage)}
`;

const names = missing.length > 0 ? ` (skipped: ${missing.join(', ')} not there)` : '';

describe.skipIf(missing.length > 0 && process.env['GW_NO_SKIP'] !== '1')(`artifacts in a registry${names}`, () => {
  let secured: DockerRegistry;
  let operator: ChildProcess;
  let log = '';
  const url = async (name: string) => `http://${await k.field(`service/${name}-gateway`, '{.spec.clusterIP}')}/hello`;
  const says = async (name: string) => (await fetch(await url(name))).text();
  const status = (name: string, path: string) => k.field(`gatewayproject/${name}`, `{.status.${path}}`);
  const stored = (name: string) => status(name, 'conditions[?(@.type=="Stored")].message');
  const serves = (name: string, body: string) => eventually(async () => expect(await says(name)).toContain(body));
  const podSpec = (name: string) => k.field(`deployment.apps/${name}-gateway`, '{.spec.template.spec}');

  /** What the registry with a password holds of a repository, tagged. */
  async function tags(repository: string): Promise<readonly string[]> {
    const client = new RegistryClient({
      guard: new EgressGuard({ allowInternal: true, allow: [] }),
      plainHttpRegistries: [secured.host],
    });
    const credentials = parseDockerConfig(JSON.stringify({ auths: { [secured.host]: USER } }));
    try {
      return await client
        .repository(parseReference(`${secured.host}/${repository}`), { credentials, plainHttp: true })
        .tags();
    } finally {
      await client.close();
    }
  }

  beforeAll(async () => {
    secured = await startDockerRegistry({ auth: 'basic', address: node ?? '' });
    await execute('kubectl', ['create', 'namespace', namespace]);
    await execute('kubectl', ['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
    await k(
      ...['create', 'secret', 'docker-registry', 'registry', `--docker-server=${secured.host}`],
      ...[`--docker-username=${USER.username}`, `--docker-password=${USER.password}`],
    );
    operator = spawn(
      process.execPath,
      [
        ...[GW_OPERATOR, 'run', '--image', image],
        ...['--namespaces', namespace, '--namespace', namespace, '--no-leader-election'],
        ...['--bind', `127.0.0.1:${await freePort()}`, '--egress-allow', '127.0.0.1', '--egress-allow', node ?? ''],
        ...['--plain-http-registry', nodeRegistry, '--plain-http-registry', secured.host],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    for (const stream of [operator.stdout, operator.stderr]) stream?.on('data', (chunk) => (log += String(chunk)));
    await eventually(() => {
      expect(operator.exitCode, log).toBeNull();
      expect(log).toContain('"watching"');
    });
    await k.apply(apiSpec('one'));
  });

  afterAll(async () => {
    const gone = new Promise((resolve) => operator?.once('exit', resolve));
    if (operator?.kill()) await gone;
    await execute('kubectl', ['delete', 'namespace', namespace, '--wait=false']);
    await secured?.close();
  });

  const privately = (extra: object = {}) => ({
    type: 'OCI',
    oci: {
      repository: `${secured.host}/team/shop`,
      plainHttp: true,
      pushSecret: 'registry',
      pullSecret: 'registry',
      mount: 'InitContainer',
      ...extra,
    },
  });

  it('pods mount them as image volumes where the cluster has those', async () => {
    const repository = `${nodeRegistry}/${namespace}/volume`;
    await k.apply(project('volume', { type: 'OCI', oci: { repository, plainHttp: true } }));
    await k.condition('gatewayproject/volume', 'Ready');
    await serves('volume', 'one');
    expect(await stored('volume')).toContain(`${repository}@sha256:`);
    expect(await podSpec('volume')).toContain(
      `"image":{"pullPolicy":"IfNotPresent","reference":"${repository}@sha256:`,
    );
    expect(log).toContain('image volumes: by a dry run');
  });

  it('an init container fetches them, with the password of a Secret', async () => {
    await k.apply(project('shop', privately()));
    await k.condition('gatewayproject/shop', 'Ready');
    await serves('shop', 'one');
    expect(await podSpec('shop')).toContain('"initContainers"');
    expect(await tags('team/shop')).toHaveLength(1);
    expect(log).not.toContain(USER.password);
  });

  it('a registry that is down changes nothing that is served, and what was not stored is once it is back', async () => {
    const load = startLoad(await url('shop'), 30, {});
    await secured.stop();
    await k.apply(apiSpec('two'));
    await eventually(async () =>
      expect(await status('shop', 'conditions[?(@.type=="Stored")].reason')).toBe('RegistryUnavailable'),
    );
    expect(await status('shop', 'conditions[?(@.type=="Ready")].reason')).toBe('LastGoodServing');
    expect(await says('shop')).toContain('one');
    await secured.start();
    await serves('shop', 'two');
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.sent).toBeGreaterThan(100);
  });

  it('a wrong password is told, and what to do', async () => {
    await k('create', 'secret', 'generic', 'empty', '--from-literal=x=y');
    await k.apply(project('denied', privately({ pushSecret: 'empty' })));
    await k.condition('gatewayproject/denied', 'Stored', 'False');
    expect(await stored('denied')).toContain('create it with kubectl create secret docker-registry');
    await k.apply(project('denied', privately({ pushSecret: undefined })));
    await eventually(async () => expect(await stored('denied')).toContain('requires a user name'));
    await k('delete', 'gatewayproject', 'denied');
  });

  it('those of forgotten revisions are deleted, and only those', async () => {
    for (const body of ['three', 'four']) {
      await k.apply(apiSpec(body));
      await serves('shop', body);
      await k.condition('gatewayproject/shop', 'Ready');
    }
    const kept = async () => (await status('shop', 'revisions[*].archive')).split(' ').toSorted();
    await eventually(async () =>
      expect((await tags('team/shop')).toSorted()).toEqual((await kept()).map((archive) => `sha256-${archive}`)),
    );
    expect((await kept()).length).toBeLessThan(4);
    const records = await k('get', 'configmap', '-l', 'gw.dev/project=shop,gw.dev/artifact-part=image', '-o', 'name');
    expect(records.trim().split('\n')).toHaveLength((await kept()).length);
  });

  it('moving to ConfigMaps and back serves on, and revisions stay in reach', async () => {
    const load = startLoad(await url('shop'), 30, {});
    const before = await status('shop', 'revision');
    await k.apply(project('shop', { ...privately(), type: 'ConfigMap' }));
    await eventually(async () => expect(await podSpec('shop')).toContain('"configMap"'));
    await k.condition('gatewayproject/shop', 'Ready');
    await k('rollout', 'status', 'deployment.apps/shop-gateway', '--timeout=90s');
    expect(await status('shop', 'revision')).toBe(before);
    await k.apply(
      `{apiVersion: gw.dev/v1alpha1, kind: Deployment, metadata: {name: back}, spec: {project: shop, artifact: {revision: ${Number(before) - 1}}}}`,
    );
    await serves('shop', 'three');
    await k('delete', 'deployment.gw.dev', 'back');
    await serves('shop', 'four');
    await k.apply(project('shop', privately()));
    await eventually(async () => expect(await podSpec('shop')).toContain('"initContainers"'));
    await k('rollout', 'status', 'deployment.apps/shop-gateway', '--timeout=90s');
    await serves('shop', 'four');
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.sent).toBeGreaterThan(100);
  });
});
