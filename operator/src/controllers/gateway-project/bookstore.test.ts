/** The same inputs give the same artifact_hash through every interface: manifests, `gw compile` and `compileProject`. */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileProject } from '@gw/control';
import { readArtifact } from '@gw/gateway/artifact';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GW } from '../../../../test/programs/gw.ts';
import { testFetcher } from '../../../../test/source-rig.ts';
import { apiSpecs, configMaps, gatewayProjects, secrets } from '../../api/resources.ts';
import { runnableWorkloads } from '../../local/local-kinds.ts';
import { readManifests } from '../../local/manifests.ts';
import { MemoryObjects } from '../../local/memory-objects.ts';
import type { EventRecord } from '../../runtime/objects.ts';
import { catalog } from '../plugin-ref/catalog.ts';
import { ForeignUses } from '../plugin-ref/grants.ts';
import { observe } from './observe.ts';
import { reconcileGatewayProject } from './reconcile.ts';
import { Measurements } from './rollout/measurements.ts';
import { Compilations } from './sources/compilation.ts';
import { gather } from './sources/decide.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const example = join(root, 'examples', 'bookstore');
const KEY = { namespace: 'default', name: 'bookstore' };

async function start() {
  const objects = new MemoryObjects();
  for (const found of (await readManifests(example)).files.values()) {
    for (const { resource, object } of found) await objects.apply(resource, object);
  }
  const told: EventRecord[] = [];
  let compilations = 0;
  const deps = {
    objects,
    catalog,
    probe: async () => {
      throw new Error('no pods here');
    },
    sources: testFetcher(objects).sources,
    foreignUses: new ForeignUses(),
    namespaces: { includes: () => true },
    readMetrics: async () => '',
    measurements: new Measurements(),
    events: { record: (_: unknown, event: EventRecord) => void told.push(event) },
    compilations: new Compilations({ onCompiled: () => compilations++ }),
    settings: { image: 'gw:test', operatorNamespace: 'gw-system' },
  };
  const reconcile = async () => {
    await reconcileGatewayProject(deps, KEY);
    return (await objects.get(gatewayProjects, KEY))?.status;
  };
  return { objects, deps, reconcile, told, compilations: () => compilations };
}

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-doors-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('the bookstore', () => {
  it('has the same artifact_hash through every door', async () => {
    const { deps, reconcile } = await start();
    const status = await reconcile();
    expect(status?.artifactHash).toMatch(/^sha256:[0-9a-f]{64}$/);

    const output = join(dir, 'bookstore.gwa');
    const manifest = join(example, 'project', 'gw.yaml');
    await promisify(execFile)(process.execPath, [
      GW,
      'compile',
      '--manifest',
      manifest,
      '--output',
      output,
      '--allow-plaintext',
    ]);
    expect((await readArtifact(output)).manifest.artifact_hash).toBe(status?.artifactHash);

    const observed = await observe(deps, KEY);
    const gathered = observed && gather(observed.project, observed.sources);
    if (!gathered?.ok) throw new Error('the bookstore does not gather');
    const library = await compileProject(gathered.inputs);
    expect(library.ok && library.artifactHash).toBe(status?.artifactHash);
  });

  it('is kept in ConfigMaps that hold the artifact, and is not compiled again for nothing', async () => {
    const { objects, reconcile, compilations } = await start();
    const status = await reconcile();
    await reconcile();
    expect(compilations()).toBe(1);
    const [revision] = status?.revisions ?? [];
    const part = await objects.get(configMaps, { namespace: 'default', name: `bookstore-${revision?.archive}-0` });
    const [base64 = ''] = Object.values(part?.binaryData ?? {});
    const artifact = await readArtifact(Buffer.from(base64, 'base64'));
    expect(artifact.manifest).toMatchObject({ artifact_hash: status?.artifactHash, routes_count: 12 });
    expect(part?.immutable).toBe(true);
  });

  it('is signed where the project names a key, and its pods trust that key and the others named', async () => {
    const { objects, reconcile } = await start();
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const hex = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
    const project = await objects.get(gatewayProjects, KEY);
    if (!project) throw new Error('no GatewayProject');
    const trustedKeys = ['a'.repeat(64)];
    const signing = {
      ...project,
      spec: { ...project.spec, signing: { keySecret: { name: 'k', key: 'signing.pem' }, trustedKeys } },
    };
    await objects.apply(gatewayProjects, signing);
    const missing = await reconcile();
    expect(missing?.conditions?.[0]).toMatchObject({ type: 'Accepted', reason: 'SourceNotFound' });

    const secret = (text: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'k', namespace: 'default' },
      data: { 'signing.pem': Buffer.from(text).toString('base64') },
    });
    await objects.apply(secrets, secret('no key'));
    expect((await reconcile())?.conditions?.[0]).toMatchObject({ reason: 'SourceInvalid' });
    await objects.apply(secrets, secret(String(pem)));
    const status = await reconcile();
    expect(status?.revisions?.[0]?.signedBy).toBe(hex);
    const part = await objects.get(configMaps, {
      namespace: 'default',
      name: `bookstore-${status?.revisions?.[0]?.archive}-0`,
    });
    const [base64 = ''] = Object.values(part?.binaryData ?? {});
    const artifact = Buffer.from(base64, 'base64');
    expect((await readArtifact(artifact, { trustedKeys: [hex] })).manifest.signing_public_key).toBe(hex);
    await expect(readArtifact(artifact, { trustedKeys })).rejects.toThrow();
    const workload = await objects.get(runnableWorkloads, { namespace: 'default', name: 'bookstore-gateway' });
    const [container] = workload?.spec.template.spec.containers ?? [];
    expect(container?.env).toContainEqual({ name: 'GW_TRUSTED_PUBKEY', value: `${hex},${trustedKeys[0]}` });
  });

  it('gets diagnostics with file and pointer when its document is wrong, and keeps the last good artifact', async () => {
    const { objects, reconcile, told } = await start();
    const good = await reconcile();
    const spec = await objects.get(apiSpecs, KEY);
    if (!spec) throw new Error('no ApiSpec');
    const inline =
      spec.spec.source.inline?.replace('#/components/parameters/BookId', '#/components/parameters/Nothing') ?? '';
    const broken = { ...spec, spec: { ...spec.spec, source: { inline } } };
    await objects.apply(apiSpecs, broken);
    const bad = await reconcile();
    expect(bad).toMatchObject({ artifactHash: good?.artifactHash, revision: 1 });
    expect(bad?.diagnostics?.[0]).toMatchObject({
      code: 'E1003',
      severity: 'error',
      apiSpec: 'bookstore',
      file: 'bookstore.yaml',
    });
    expect(bad?.diagnostics?.[0]?.pointer).toContain('/paths/');
    expect(told).toContainEqual(expect.objectContaining({ type: 'Warning', reason: 'CompileFailed' }));
  });
});
