/** The chart of a gateway without the operator, on a cluster with pods: each way that its artifact may come. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readArtifact } from '@gw/gateway/artifact';
import { EgressGuard } from '@gw/gateway/egress';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RegistryClient } from '../../operator/src/registry/client.ts';
import { IMAGE_MANIFEST } from '../../operator/src/registry/media-types.ts';
import { parseReference } from '../../operator/src/registry/reference.ts';
import { artifactImage } from '../../operator/src/storage/artifact-image.ts';
import { eventually } from '../eventually.ts';
import { GW } from '../programs/gw.ts';
import { image, missing, skipped } from './installed-operator.ts';
import { DRAIN_SECONDS, execute, kubectl, lookAtPods } from './kubectl.ts';
import { startLoad } from './load.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const namespace = `gw-chart-${randomBytes(3).toString('hex')}`;
const k = kubectl(namespace);
const colon = image.lastIndexOf(':');
/** The registry that nodes pull from: the cluster's own, on the node itself. */
const REGISTRY = process.env['GW_E2E_REGISTRY'] ?? '127.0.0.1:5000';

const document = (version: string) => `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /version:
    get:
      operationId: version
      responses: {"200": {description: OK}}
      x-gw-dispatch: {name: mock, config: {body: "${version}"}}
`;

describe.skipIf(missing.length > 0)(`the gateway's chart on a cluster${skipped}`, () => {
  let folder = '';
  let url = '';

  /** Compiles one; its path. */
  async function artifact(version: string): Promise<string> {
    await writeFile(join(folder, 'gw.yaml'), 'specs: specs\nplugins: {mock: {}}\n');
    await writeFile(join(folder, 'specs', 'shop.yaml'), document(version));
    const output = join(folder, `${version}.gwa`);
    await run(process.execPath, [GW, 'compile', '--manifest', join(folder, 'gw.yaml'), '--output', output]);
    return output;
  }

  async function base64(version: string): Promise<string> {
    const file = join(folder, `${version}.b64`);
    await writeFile(file, (await readFile(await artifact(version))).toString('base64'));
    return file;
  }

  const settings = [
    ...['--namespace', namespace, '--wait', '--timeout', '180s'],
    ...['--set', `image.repository=${image.slice(0, colon)}`, '--set-string', `image.tag=${image.slice(colon + 1)}`],
    ...['--set', 'serve.drainDelay=1'],
  ];
  const helm = (command: string, ...options: readonly string[]) =>
    execute('helm', [command, 'shop', join(root, 'charts', 'gateway'), ...settings, ...options]);
  const test = () => execute('helm', ['test', 'shop', '-n', namespace, '--timeout', '120s']);
  const answers = (version: string) =>
    eventually(async () => expect(await (await fetch(`${url}/version`)).text()).toBe(version));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gw-chart-'));
    await mkdir(join(folder, 'specs'));
    await execute('kubectl', ['create', 'namespace', namespace]);
    await execute('kubectl', ['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
    await k('create', 'configmap', 'shop-artifact', `--from-file=api.gwa=${await artifact('one')}`);
    // Those that end while requests are counted.
    await helm(
      'install',
      ...['--set', 'artifact.configMaps={shop-artifact}', '--set', `serve.drainDelay=${DRAIN_SECONDS}`],
    );
    url = `http://${await k.field('service/shop-gateway', '{.spec.clusterIP}')}`;
  });

  afterAll(async () => {
    await execute('kubectl', ['delete', 'namespace', namespace, '--wait=false']);
    await rm(folder, { recursive: true });
  });

  it('serves what a ConfigMap holds, and what it holds next without new pods', async () => {
    await answers('one');
    expect(await test()).toContain('Phase:          Succeeded');
    const pods = () => k('get', 'pods', '-l', 'app.kubernetes.io/instance=shop', '-o', 'name');
    const before = await pods();
    const two = await artifact('two');
    const yaml = await k(
      'create',
      'configmap',
      'shop-artifact',
      `--from-file=api.gwa=${two}`,
      '--dry-run=client',
      '-oyaml',
    );
    await k.apply(yaml);
    await lookAtPods(k, 'app.kubernetes.io/instance=shop');
    await eventually(async () => {
      for (let n = 0; n < 10; n++) expect(await (await fetch(`${url}/version`)).text()).toBe('two');
    });
    expect(await pods()).toBe(before);
  });

  it('replaces pods for an artifact that is given inline, with no request lost', async () => {
    const load = startLoad(`${url}/version`, 50, {});
    await eventually(() => expect(load.sent).toBeGreaterThan(50));
    await helm(
      'upgrade',
      '--set',
      'artifact.configMaps=null',
      '--set-file',
      `artifact.inline=${await base64('three')}`,
    );
    await answers('three');
    await eventually(async () => expect(JSON.parse(await k('get', 'pods', '-o', 'json')).items).toHaveLength(2));
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(await test()).toContain('Phase:          Succeeded');
  });

  it('keeps the pods that an autoscaler has made through an upgrade', async () => {
    const inline = ['--set', 'artifact.configMaps=null', '--set-file', `artifact.inline=${await base64('three')}`];
    await k('scale', 'deployment.apps/shop-gateway', '--replicas=3');
    await helm('upgrade', ...inline, '--set', 'autoscaling.enabled=true', '--set', 'autoscaling.minReplicas=3');
    expect(await k.field('deployment.apps/shop-gateway', '{.spec.replicas}')).toBe('3');
    expect(await k.field('hpa/shop-gateway', '{.spec.minReplicas} {.spec.maxReplicas}')).toBe('3 10');
  });

  it.each(['ImageVolume', 'InitContainer'])('serves what an image in a registry holds, by %s', async (mount) => {
    const name = `gw-chart/${mount.toLowerCase()}`;
    const bytes = await readFile(await artifact(mount));
    const { manifest } = await readArtifact(bytes);
    const built = await artifactImage({
      archive: bytes,
      tarSha256: '0'.repeat(64),
      artifactHash: manifest.artifact_hash,
      owner: 'test',
    });
    const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
    const client = new RegistryClient({ guard, plainHttpRegistries: [REGISTRY] });
    const repository = client.repository(parseReference(`${REGISTRY}/${name}`), { plainHttp: true });
    await repository.pushBlob(built.layer);
    await repository.pushBlob(built.config);
    const digest = await repository.pushManifest(built.manifest, IMAGE_MANIFEST);
    await client.close();
    // Nodes pull by the registry's own address; pods reach it at the node's.
    const node = JSON.parse(await execute('kubectl', ['get', 'nodes', '-o', 'json'])).items[0].status.addresses[0]
      .address;
    const host = mount === 'ImageVolume' ? REGISTRY : REGISTRY.replace('127.0.0.1', node);
    const fetches = [
      `artifact.oci.mount=${mount}`,
      'artifact.oci.plainHttp=true',
      `artifact.oci.egressAllow={${node}}`,
    ];
    await helm(
      'upgrade',
      ...['--set', 'artifact.configMaps=null', '--set', `artifact.oci.reference=${host}/${name}@${digest}`],
      ...fetches.flatMap((value) => ['--set', value]),
    );
    await answers(mount);
  });

  it('leaves nothing behind', async () => {
    await execute('helm', ['uninstall', 'shop', '-n', namespace, '--wait']);
    const kinds = 'all,configmaps,secrets,serviceaccounts,networkpolicies,poddisruptionbudgets,hpa';
    await eventually(async () => {
      const left = (await k('get', kinds, '-o', 'name')).split('\n').filter(Boolean);
      expect(left.toSorted()).toEqual([
        'configmap/kube-root-ca.crt',
        'configmap/shop-artifact',
        'serviceaccount/default',
      ]);
    });
  });
});
