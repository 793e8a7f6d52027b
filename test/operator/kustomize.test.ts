/** Kustomize renames objects, and the component of `kustomize/` what names them. Needs kubectl, and no cluster. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../operator/src/kube/kube-object.ts';
import { execute } from '../e2e/kubectl.ts';

const missing = spawnSync('kubectl', ['version', '--client']).status !== 0;
const root = join(import.meta.dirname, '..', '..');

const gw = (kind: string, name: string, spec: object) => ({
  apiVersion: 'gw.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});

const base = {
  'objects.yaml': [
    gw('ApiSpec', 'books', { source: { configMap: { name: 'books-files', more: ['books-parts'] } } }),
    gw('PluginRef', 'strict', { plugin: 'rate-limit', source: { builtin: {} } }),
    gw('PluginRef', 'own', { plugin: 'own', source: { secret: { name: 'own-package' } } }),
    gw('GatewayProject', 'shop', {
      specs: { names: ['books'] },
      plugins: [{ name: 'mock' }, { name: 'rate-limit', pluginRef: 'strict' }, { name: 'own', pluginRef: 'own' }],
      secrets: { env: ['books-env'], directory: 'books-dir' },
      pods: { template: { spec: { volumes: [{ name: 'more', configMap: { name: 'books-files' } }] } } },
    }),
    gw('Deployment', 'shop', { project: 'shop', artifact: { latest: true } }),
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'app' },
      spec: {
        selector: { matchLabels: { app: 'app' } },
        template: {
          metadata: { labels: { app: 'app' }, annotations: { 'gw.dev/project': 'shop' } },
          spec: { containers: [{ name: 'app', image: 'app' }] },
        },
      },
    },
  ]
    .map((object) => stringify(object))
    .join('---\n'),
  'kustomization.yaml': stringify({
    resources: ['objects.yaml'],
    components: ['./gw'],
    namePrefix: 'dev-',
    nameSuffix: '-2',
    configMapGenerator: [
      { name: 'books-files', literals: ['books.yaml=openapi'] },
      { name: 'books-parts', literals: ['part.yaml=a'] },
    ],
    secretGenerator: ['own-package', 'books-env', 'books-dir'].map((name) => ({ name, literals: ['key=value'] })),
  }),
};

describe.skipIf(missing)(`Kustomize${missing ? ' (skipped: no kubectl)' : ''}`, () => {
  let built: readonly (KubeObject & { readonly spec: Readonly<Record<string, never>> })[] = [];
  const dir = mkdtempSync(join(tmpdir(), 'gw-kustomize-'));
  const one = (kind: string, name: string): { readonly spec: unknown } | undefined =>
    built.find((object) => object.kind === kind && object.metadata.name === name);
  /** As it is named now. */
  const generated = (kind: string, name: string) =>
    built.find((object) => object.kind === kind && object.metadata.name.startsWith(`dev-${name}-2-`))?.metadata.name;

  beforeAll(async () => {
    for (const [name, text] of Object.entries(base)) writeFileSync(join(dir, name), text);
    cpSync(join(root, 'kustomize'), join(dir, 'gw'), { recursive: true });
    built = parseAllDocuments(await execute('kubectl', ['kustomize', dir])).map((document) => document.toJS());
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('renames what our kinds name: each other, and generated ConfigMaps and Secrets', () => {
    expect(one('ApiSpec', 'dev-books-2')?.spec).toEqual({
      source: {
        configMap: { name: generated('ConfigMap', 'books-files'), more: [generated('ConfigMap', 'books-parts')] },
      },
    });
    expect(one('PluginRef', 'dev-own-2')?.spec).toEqual({
      plugin: 'own',
      source: { secret: { name: generated('Secret', 'own-package') } },
    });
    expect(one('GatewayProject', 'dev-shop-2')?.spec).toEqual({
      specs: { names: ['dev-books-2'] },
      plugins: [
        { name: 'mock' },
        { name: 'rate-limit', pluginRef: 'dev-strict-2' },
        { name: 'own', pluginRef: 'dev-own-2' },
      ],
      secrets: { env: [generated('Secret', 'books-env')], directory: generated('Secret', 'books-dir') },
      pods: {
        template: { spec: { volumes: [{ name: 'more', configMap: { name: generated('ConfigMap', 'books-files') } }] } },
      },
    });
    expect(one('Deployment', 'dev-shop-2')?.spec).toEqual({ project: 'dev-shop-2', artifact: { latest: true } });
    const hashed = built.filter(({ kind }) => kind === 'ConfigMap' || kind === 'Secret');
    expect(hashed.map(({ metadata }) => metadata.name).every((name) => /^dev-.+-2-[a-z0-9]{10}$/.test(name))).toBe(
      true,
    );
  });

  it('leaves the names of plugins, and takes the annotation of sidecars along', () => {
    expect(one('PluginRef', 'dev-strict-2')?.spec).toEqual({ plugin: 'rate-limit', source: { builtin: {} } });
    expect(JSON.stringify(one('Deployment', 'dev-app-2')?.spec)).toContain('"gw.dev/project":"dev-shop-2"');
  });
});
