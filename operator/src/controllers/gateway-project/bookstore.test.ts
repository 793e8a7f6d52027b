/** The same inputs give the same artifact_hash through every door: manifests, `gw compile` and `compileProject`. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileProject } from '@gw/control';
import { readArtifact } from '@gw/gateway/artifact';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiSpecs, configMaps, gatewayProjects } from '../../api/resources.ts';
import { catalog } from '../../catalog.ts';
import { readManifests } from '../../local/manifests.ts';
import { MemoryObjects } from '../../local/memory-objects.ts';
import type { EventRecord } from '../../runtime/objects.ts';
import { Compilations } from './compilation.ts';
import { gather } from './gather.ts';
import { observe } from './observe.ts';
import { reconcileGatewayProject } from './reconcile.ts';

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
  const using = {
    objects,
    catalog,
    probe: async () => {
      throw new Error('no pods here');
    },
    events: { record: (_: unknown, event: EventRecord) => void told.push(event) },
    compilations: new Compilations({ onCompiled: () => compilations++ }),
    settings: { image: 'gw:test', operatorNamespace: 'gw-system' },
  };
  const reconcile = async () => {
    await reconcileGatewayProject(using, KEY);
    return (await objects.get(gatewayProjects, KEY))?.status;
  };
  return { objects, using, reconcile, told, compilations: () => compilations };
}

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-doors-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('the bookstore', () => {
  it('has the same artifact_hash through every door', async () => {
    const { using, reconcile } = await start();
    const status = await reconcile();
    expect(status?.artifactHash).toMatch(/^sha256:[0-9a-f]{64}$/);

    const output = join(dir, 'bookstore.gwa');
    const gw = join(root, 'gateway', 'src', 'main.ts');
    const manifest = join(example, 'project', 'gw.yaml');
    await promisify(execFile)(process.execPath, [
      gw,
      'compile',
      '--manifest',
      manifest,
      '--output',
      output,
      '--allow-plaintext',
    ]);
    expect((await readArtifact(output)).manifest.artifact_hash).toBe(status?.artifactHash);

    const observed = await observe(using, KEY);
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
