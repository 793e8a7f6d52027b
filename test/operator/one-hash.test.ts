/**
 * The same documents and plugin package by kubectl from whatever source, by REST and by the command line: one hash
 * (docs/decisions.md#one-project).
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { compileProject } from '@gw/control';
import { builtinPluginFiles } from '@gw/gateway/compiler';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  apiSpecs,
  configMaps,
  type GatewayProject,
  gatewayProjects,
  pluginRefs,
  secrets,
} from '../../operator/src/api/resources.ts';
import { gather } from '../../operator/src/controllers/gateway-project/sources/decide.ts';
import { readSources } from '../../operator/src/controllers/gateway-project/sources/observe.ts';
import { catalog } from '../../operator/src/controllers/plugin-ref/catalog.ts';
import { ForeignUses } from '../../operator/src/controllers/plugin-ref/grants.ts';
import type { KubeObject, Resource } from '../../operator/src/kube/kube-object.ts';
import { MemoryObjects } from '../../operator/src/local/memory-objects.ts';
import { RegistryClient } from '../../operator/src/registry/client.ts';
import type { OpenFetcher } from '../../operator/src/sources/open-fetcher.ts';
import { compiled, createProject, gw, hashByCommandLine } from '../control/compiling.ts';
import { type ControlServer, startControl } from '../control/server.ts';
import { type FileServer, sha256, startFileServer, tarOf, testEgress, testFetcher } from '../source-rig.ts';

const REGISTRY = process.env['OCI_REGISTRY'];
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const DOCUMENTS = {
  'books.yaml': `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books/{id}:
    get:
      parameters: [{ $ref: id.yaml }]
      x-gw-dispatch: { name: echo, config: { status: 200, body: a book, core_rules: false, rules: ['*.conf'] } }
`,
  'id.yaml': 'name: id\nin: path\nrequired: true\nschema: { type: integer }\n',
  'block.conf': 'SecRule ARGS "@pmFromFile words.data" "id:1001,phase:2,deny,status:403"\n',
  'words.data': 'bad\nworse\n',
};
/** Ours of the built-in one, under another name. */
const TOML =
  '[plugin]\nname = "echo"\nversion = "3.2.1"\ntype = "dispatcher"\n[capabilities]\nhost_functions = ["host_example_respond"]\n';
const builtin = builtinPluginFiles('mock');
const PACKAGE = {
  'echo.wasm': Buffer.from(builtin.get('mock.wasm') ?? ''),
  'plugin.toml': Buffer.from(TOML),
  'config-schema.json': Buffer.from(JSON.stringify(withRules(builtin.get('config-schema.json')))),
};

/** Its config names files of the project, as that of `waf` does. */
function withRules(schema: Uint8Array = new Uint8Array()): object {
  const { properties, ...rest } = JSON.parse(Buffer.from(schema).toString());
  const more = { core_rules: { type: 'boolean' }, rules: { type: 'array', items: { type: 'string' } } };
  return { ...rest, 'x-gw-data': 'waf', properties: { ...properties, ...more } };
}

const MCP = { upstreams: { wiki: { url: 'https://wiki.example/mcp', prefix: '', headers: { 'x-tenant': 'a' } } } };

let server: FileServer;
let objects: MemoryObjects;
let fetcher: OpenFetcher;
let folder = '';
let hash = '';

beforeAll(async () => {
  server = await startFileServer();
  objects = new MemoryObjects();
  fetcher = testFetcher(objects, {
    plainHttpSources: [server.host],
    plainHttpRegistries: REGISTRY ? [REGISTRY] : [],
  });
  folder = await mkdtemp(join(tmpdir(), 'gw-one-hash-'));
  const files = Object.entries({
    ...Object.fromEntries(Object.entries(DOCUMENTS).map(([name, text]) => [`specs/${name}`, text])),
    ...Object.fromEntries(Object.entries(PACKAGE).map(([name, bytes]) => [`echo/${name}`, bytes])),
    'gw.yaml': `specs: specs\nplugins:\n  echo: { path: echo/echo.wasm }\nmcp: ${JSON.stringify(MCP)}\n`,
  });
  for (const [name, content] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  hash = await hashByCommandLine(join(folder, 'gw.yaml'));
  expect(hash).toMatch(/^sha256:/);
});
afterAll(async () => {
  await fetcher?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const metadata = (name: string) => ({ name, namespace: 'shop' });
const dataOf = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString('base64')]));

async function atUrl(path: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<object> {
  const archive = gzipSync(await tarOf(files));
  server.files.set(path, archive);
  return { url: { url: server.url + path, sha256: sha256(archive) } };
}

async function inRegistry(files: Readonly<Record<string, string | Uint8Array>>): Promise<object> {
  const registry = REGISTRY ?? '';
  const name = `gw-test/${randomUUID()}`;
  const client = new RegistryClient(testEgress({ plainHttpRegistries: [registry] }));
  const repository = client.repository({ registry, repository: name }, { plainHttp: true });
  const layers = [];
  for (const [title, content] of Object.entries(files)) {
    const pushed = await repository.pushBlob(Buffer.from(content));
    const annotations = { 'org.opencontainers.image.title': title };
    layers.push({ mediaType: 'application/octet-stream', ...pushed, annotations });
  }
  const config = { mediaType: 'application/vnd.oci.empty.v1+json', ...(await repository.pushBlob(Buffer.from('{}'))) };
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers }));
  await repository.pushManifest(manifest, MANIFEST, '1');
  await client.close();
  return { oci: { reference: `${registry}/${name}:1`, plainHttp: true } };
}

/** What the operator makes of an ApiSpec and a PluginRef with these sources. */
async function byOperator(document: object, plugin: object, file?: string): Promise<string> {
  const spec = { source: document, ...(file ? { file } : {}) };
  await objects.apply(apiSpecs, apiSpecs.parse({ metadata: metadata('books'), spec }));
  await objects.apply(pluginRefs, pluginRefs.parse({ metadata: metadata('echo'), spec: { source: plugin } }));
  const project = gatewayProjects.parse({
    metadata: metadata('shop'),
    spec: {
      specs: { names: ['books'] },
      plugins: [{ name: 'echo', pluginRef: 'echo' }],
      mcp: MCP,
      allowPlaintext: true,
    },
  });
  return byProject(project);
}

/** What the operator makes of a project, and of the objects that it names. */
async function byProject(project: GatewayProject): Promise<string> {
  const namespaces = { includes: () => true };
  const using = { objects, catalog, sources: fetcher.sources, foreignUses: new ForeignUses(), namespaces };
  for (;;) {
    const changed = new Promise<void>((resolve) => fetcher.sources.onChange(() => resolve()));
    const gathered = gather(project, await readSources(using, project));
    if (gathered.ok) {
      const result = await compileProject(gathered.inputs);
      return result.ok ? result.artifactHash : JSON.stringify(result.diagnostics);
    }
    if (gathered.problems.some(({ reason }) => reason !== 'Fetching')) return JSON.stringify(gathered.problems);
    await changed;
  }
}

it('by kubectl, from ConfigMaps and Secrets', async () => {
  await objects.apply(configMaps, configMaps.parse({ metadata: metadata('docs'), binaryData: dataOf(DOCUMENTS) }));
  await objects.apply(configMaps, configMaps.parse({ metadata: metadata('echo'), binaryData: dataOf(PACKAGE) }));
  await objects.apply(secrets, secrets.parse({ metadata: metadata('echo'), data: dataOf(PACKAGE) }));
  const docs = { configMap: { name: 'docs', key: 'books.yaml' } };
  expect(await byOperator(docs, { configMap: { name: 'echo' } })).toBe(hash);
  expect(await byOperator(docs, { secret: { name: 'echo' } })).toBe(hash);
});

it('by kubectl, from what gw manifests writes', async () => {
  const { stdout } = await gw(['manifests', '-m', join(folder, 'gw.yaml'), '--name', 'books', '--namespace', 'shop']);
  const written = parseAllDocuments(stdout).map((document) => document.toJS());
  const kinds = { ApiSpec: apiSpecs, ConfigMap: configMaps, GatewayProject: gatewayProjects, PluginRef: pluginRefs };
  for (const object of written) {
    const resource = kinds[object.kind as keyof typeof kinds] as Resource<KubeObject>;
    await objects.apply(resource, resource.parse(object));
  }
  const names = written.map(({ kind, metadata: { name } }) => `${kind}/${name}`);
  expect(names).toEqual([
    ...['ConfigMap/books-specs', 'ApiSpec/books', 'ConfigMap/books-echo', 'PluginRef/echo', 'GatewayProject/books'],
  ]);
  expect(await byProject(gatewayProjects.parse(written.at(-1)))).toBe(hash);
});

it('by kubectl, from archives at URLs', async () => {
  const document = await atUrl('/books.tgz', DOCUMENTS);
  expect(await byOperator(document, await atUrl('/echo.tgz', PACKAGE), 'books.yaml')).toBe(hash);
});

it.skipIf(!REGISTRY && process.env['GW_NO_SKIP'] !== '1')(
  'by kubectl, from a registry (needs OCI_REGISTRY)',
  async () => {
    expect(await byOperator(await inRegistry(DOCUMENTS), await inRegistry(PACKAGE), 'books.yaml')).toBe(hash);
  },
);

it('by REST', async () => {
  const control: ControlServer = await startControl({ args: ['--admin-bind', 'off'] });
  try {
    const plugin = new FormData();
    const fields = { name: 'echo', version: '3.2.1', type: 'dispatcher', capabilities: '["host_example_respond"]' };
    for (const [name, value] of Object.entries(fields)) plugin.append(name, value);
    plugin.append('config_schema', PACKAGE['config-schema.json'].toString());
    plugin.append('file', new Blob([Uint8Array.from(PACKAGE['echo.wasm'])]), 'echo.wasm');
    await control.get('/plugins', { method: 'POST', body: plugin });
    const projectId = await createProject(control, { mcp: MCP });
    const json = { plugin_name: 'echo', plugin_version: '3.2.1', enabled: true, config: {} };
    await control.get(`/projects/${projectId}/plugins`, { method: 'POST', json });
    const upload = new FormData();
    upload.append('entry', 'books.yaml');
    upload.append('file', new Blob([Uint8Array.from(await tarOf(DOCUMENTS))]), 'books.tar');
    await control.get(`/projects/${projectId}/specs`, { method: 'POST', body: upload });
    expect((await compiled(control, `/projects/${projectId}`)).artifact_hash).toBe(hash);
  } finally {
    await control.stop();
  }
});
