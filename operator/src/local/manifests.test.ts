import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readManifests } from './manifests.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-manifests-'));
});
afterEach(() => rm(dir, { recursive: true }));

const PROJECT = 'apiVersion: gw.dev/v1alpha1\nkind: GatewayProject\nmetadata: {name: shop}\n';

/** Nine levels of nine: a document of 400 bytes that would unfold to a gigabyte. */
const BOMB = [
  'l0: &l0 [x]',
  ...Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(',')}]`),
].join('\n');

describe('manifests', () => {
  it('take their defaults from the schema, and their namespace', async () => {
    await writeFile(join(dir, 'a.yaml'), `${PROJECT}spec: {specs: {names: [a]}}\n`);
    const [found] = (await readManifests(dir)).files.get('a.yaml') ?? [];
    expect(found?.object).toMatchObject({
      metadata: { namespace: 'default' },
      spec: { autoDeploy: true, pods: { replicas: 1 }, serve: { drainDelay: 8 } },
    });
  });

  it('read every document of a file, and Lists', async () => {
    await writeFile(
      join(dir, 'a.yaml'),
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: v}\n---\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n',
    );
    const found = (await readManifests(dir)).files.get('a.yaml') ?? [];
    expect(found.map(({ object }) => object.kind)).toEqual(['Secret', 'ConfigMap']);
    expect(found[0]?.object).toMatchObject({ data: { k: 'dg==' } });
  });

  it('name the kinds that local mode does not know', async () => {
    await writeFile(
      join(dir, 'a.json'),
      '{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"i"}}',
    );
    await writeFile(join(dir, 'kustomization.yaml'), 'resources: []');
    const { ignored, problems } = await readManifests(dir);
    expect([ignored, [...problems]]).toEqual([['Ingress i'], []]);
  });

  it.each([
    ['no YAML', 'a: [', /at line/],
    ['no manifest', 'specs: specs\n', /without apiVersion and kind/],
    [
      'an unknown kind of ours',
      'apiVersion: gw.dev/v1alpha1\nkind: Gateway\nmetadata: {name: a}\n',
      /no kind "Gateway"/,
    ],
    [
      'an unknown field',
      `${PROJECT}spec: {specs: {names: [a]}, pods: {replicaz: 2}}\n`,
      /unknown field \/spec\/pods\/replicaz/,
    ],
    [
      'a value out of bounds',
      `${PROJECT}spec: {specs: {names: [a]}, pods: {replicas: -1}}\n`,
      /\/spec\/pods\/replicas must be >= 0/,
    ],
    ['no spec', PROJECT, /required property 'spec'/],
    ['aliases without end', BOMB, /alias/i],
  ])('%s is a problem of that file alone', async (_, text, expected) => {
    await writeFile(join(dir, 'bad.yaml'), text);
    await writeFile(join(dir, 'good.yaml'), `${PROJECT}spec: {specs: {names: [a]}}\n`);
    const { files, problems } = await readManifests(dir);
    expect([...files.keys()]).toEqual(['good.yaml']);
    expect(problems.get('bad.yaml')).toMatch(expected);
  });

  it('reads no manifest through a link out of the folder', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'gw-elsewhere-'));
    await writeFile(join(elsewhere, 'a.yaml'), `${PROJECT}spec: {specs: {names: [a]}}\n`);
    await symlink(join(elsewhere, 'a.yaml'), join(dir, 'linked.yaml'));
    const { files, problems } = await readManifests(dir);
    await rm(elsewhere, { recursive: true });
    expect([...files.keys()]).toEqual([]);
    expect(problems.get('linked.yaml')).toContain('it is a link that leads out of');
  });
});
