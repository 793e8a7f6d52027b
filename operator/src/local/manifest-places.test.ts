import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gatewayProjects } from '../api/resources.ts';
import type { StatusDiagnostic } from '../api/shared.ts';
import { placedInManifests } from './manifest-places.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-places-'));
});
afterEach(() => rm(dir, { recursive: true }));

const project = gatewayProjects.parse({
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GatewayProject',
  metadata: { name: 'shop', namespace: 'default' },
  spec: { specs: { names: ['books'] }, plugins: [{ name: 'mock' }, { name: 'apikey-auth' }] },
});
const found: StatusDiagnostic = {
  ...{ code: 'E1003', severity: 'error', message: 'unresolved $ref', apiSpec: 'books', file: 'books.yaml' },
  ...{ line: 3, column: 5 },
};

async function placeOf(files: Record<string, string>, diagnostic: StatusDiagnostic) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  const [placed] = placedInManifests(dir, Object.keys(files), project, [diagnostic]);
  return `${placed?.apiSpec ?? ''}${placed?.file?.replace(`${dir}/`, '')}:${placed?.line}:${placed?.column}`;
}

const head = 'apiVersion: gw.dev/v1alpha1\nkind: ApiSpec\nmetadata: { name: books }\nspec:\n  source:\n';
const DOCUMENT = 'openapi: 3.1.0\ninfo: { title: B, version: "1" }\npaths: {}\n';
const block = (indent: string) => DOCUMENT.replaceAll(/^/gm, indent).trimEnd();

describe('a diagnostic of a document', () => {
  it.each([
    ['in a block', `${head}    inline: |\n${block('      ')}\n`, '9:11'],
    ['in the second object of a file', `kind: Secret\n---\n${head}    inline: |\n${block('      ')}\n`, '11:11'],
    ['in a block after an empty line', `${head}    inline: |\n\n${block('        ')}\n`, '9:13'],
    ['in a block that says how far it is indented', `${head}    inline: |2\n${block('      ')}\n`, '9:11'],
    ['in quotation marks', `${head}    inline: "openapi: 3.1.0\\n"\n`, '6:13'],
    [
      'in JSON',
      JSON.stringify({ kind: 'ApiSpec', metadata: { name: 'books' }, spec: { source: { inline: 'a' } } }),
      '1:74',
    ],
  ])('%s', async (_, manifest, place) => {
    expect(await placeOf({ 'a.yaml': manifest }, found)).toBe(`a.yaml:${place}`);
  });

  it('in a ConfigMap', async () => {
    const spec = `${head}    configMap: { name: docs }\n`;
    const map = `kind: ConfigMap\nmetadata: { name: docs }\ndata:\n  books.yaml: |\n${block('    ')}\n`;
    expect(await placeOf({ 'a.yaml': spec, 'b.yaml': map }, found)).toBe('b.yaml:7:9');
  });

  it('from elsewhere stays as it is', async () => {
    expect(await placeOf({ 'a.yaml': `${head}    url: { url: https://a.example }\n` }, found)).toBe(
      'booksbooks.yaml:3:5',
    );
    expect(await placeOf({ 'a.yaml': 'kind: [' }, found)).toBe('booksbooks.yaml:3:5');
  });
});

it('a diagnostic of the project stands in its manifest', async () => {
  const manifest = `kind: GatewayProject
metadata: { name: shop }
spec:
  specs: { names: [books] }
  plugins:
    - name: mock
    - name: apikey-auth
      config:
        keys:
          - { key: hunter2, id: a }
`;
  const pointer = '/plugins/apikey-auth/config/keys/0/key';
  const secret: StatusDiagnostic = {
    code: 'E1070',
    severity: 'warning',
    message: 'a secret',
    file: 'GatewayProject shop',
    pointer,
  };
  expect(await placeOf({ 'p.yaml': manifest }, secret)).toBe('p.yaml:10:20');
});
