/**
 * Every code with what a newcomer reads: message, place and hint, in one golden table. `npm test -- FILE --update=all`
 * writes it again; read the difference as somebody who has made the mistake.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { type ManifestError, readManifest } from '../cli/project/manifest.ts';
import { diagnosticHead } from '../spec/diagnostic-line.ts';
import { ERROR_CODES, type ErrorCode } from '../spec/error-codes.ts';
import { compile, type Diagnostic } from './index.ts';
import type { McpSettings } from './project/mcp-upstream-schema.ts';
import type { PluginManifest, Project, ProjectPlugin } from './project/project.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'specs', 'errors');
const inDocuments: readonly Diagnostic[] = (
  await Promise.all(
    readdirSync(folder)
      .toSorted()
      .map(async (file) => {
        const files = [{ name: file, bytes: readFileSync(join(folder, file)) }];
        return (await compile({ specs: [file], files, plugins: fakePlugins, flags: {} })).diagnostics;
      }),
  )
).flat();

const [mock] = fakePlugins as readonly [ProjectPlugin, ...ProjectPlugin[]];
const wiki = (settings: object) => ({ upstreams: { wiki: { url: 'https://wiki.example/mcp', ...settings } } });
const GW_YAML = { name: 'gw.yaml', text: 'specs: specs\nplugins:\n  mock: {}\n  apikey-auth: {}\nmcp: {}\n' };
const SKIPPING = `openapi: 3.1.0
info: { title: x, version: "1" }
paths:
  /a:
    get:
      security: [{ key: [] }]
      x-gw-middlewares: [{ name: apikey-auth, config: { skip_signature_validation: true } }]
      x-gw-dispatch: { name: mock }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-API-Key }
`;
const SERVED = SKIPPING.replace('apikey-auth, config: { skip_signature_validation: true }', 'apikey-auth');

const INSPECTED = SERVED.replace('apikey-auth }', 'waf, config: { rules: [waf.conf] } }').replace(
  / {6}security.*\n/,
  '',
);
const RULES = 'SecDebugLogLevel 9\nSecRule GEO:COUNTRY "@streq XX" "id:1,deny"\n';

/** Mistakes around documents: in gw.yaml, plugins, keys and names of files. */
const projects: readonly (readonly [text: string, project: Partial<Project>])[] = [
  [SERVED, { plugins: [{ ...mock, wasm: Buffer.from('no module') }, ...fakePlugins.slice(1)] }],
  [
    SERVED,
    {
      plugins: [
        { ...mock, manifest: { ...(mock.manifest as PluginManifest), name: 'other' } },
        ...fakePlugins.slice(1),
      ],
    },
  ],
  [SERVED, { plugins: [{ ...mock, configSchema: { type: 'objct' } }, ...fakePlugins.slice(1)] }],
  [SERVED, { plugins: [{ name: 'mock', wasm: mock.wasm }, ...fakePlugins.slice(1)] }],
  [SERVED, { flags: { signingKey: 'no key' } }],
  [SERVED, { mcp: wiki({ url: 'wiki.example' }) as McpSettings }],
  [SERVED, { mcp: wiki({ headers: { authorization: 'env://TOKEN' } }) as McpSettings }],
  [SERVED, { specs: ['openapi.yaml'], files: [{ name: 'openapi.yaml', bytes: Buffer.from(SERVED) }] }],
  [
    SERVED,
    {
      specs: ['a.yaml', 'b/a.yaml'],
      files: ['a.yaml', 'b/a.yaml'].map((name) => ({ name, bytes: Buffer.from(SERVED) })),
    },
  ],
  [SERVED, { specs: ['gone.yaml'] }],
  [SERVED, { specs: [] }],
  [SKIPPING, { flags: { production: true } }],
  [
    INSPECTED,
    {
      files: [
        { name: 'a.yaml', bytes: Buffer.from(INSPECTED) },
        { name: 'waf.conf', bytes: Buffer.from(RULES) },
      ],
    },
  ],
];
const inProjects: readonly Diagnostic[] = (
  await Promise.all(
    projects.map(async ([text, project]) => {
      const files = [{ name: 'a.yaml', bytes: Buffer.from(text) }];
      const whole = { specs: ['a.yaml'], files, plugins: fakePlugins, manifest: GW_YAML, flags: {}, ...project };
      return (await compile(whole)).diagnostics;
    }),
  )
).flat();
const manifests = [
  'specs: [a]\n',
  'plugin: {}\n',
  'plugins: { Mock: {} }\n',
  'upstreams: { api: https://a.example }\n',
];
const inManifests: readonly Diagnostic[] = await Promise.all(
  manifests.map(async (text) => {
    const path = join(mkdtempSync(join(tmpdir(), 'gw-table-')), 'gw.yaml');
    writeFileSync(path, text);
    const { diagnostic } = (await readManifest(path).catch((error: unknown) => error)) as ManifestError;
    rmSync(dirname(path), { recursive: true });
    if (!diagnostic) throw new Error(`no diagnostic for ${text}`);
    return { ...diagnostic, file: 'gw.yaml' };
  }),
);

const around = [...inProjects, ...inManifests];
const shown = [...inDocuments, ...around];
const titled = shown.map((each): [string, Diagnostic] => [diagnosticHead(each), each]);
const placed = inDocuments.map((each): [string] => [diagnosticHead(each)]);
/** What ends a job of the control plane: control/src/modules/compilations/compile-job.ts. */
const OF_JOBS = ['E1005', 'E1009'];
/** Openings of an instruction. */
const IMPERATIVE =
  /^(?:Add|Begin|Build|Check|Choose|Close|Compare|Convert|Copy|Correct|Declare|Did you mean|Do not|Download|Give|Indent|Let|Move|Name|Refer|Remove|Rename|Send|Use|Write)\b/;

describe('each diagnostic', () => {
  it('stands in the table as it is', async () => {
    const tableOf = (diagnostics: readonly Diagnostic[]) =>
      diagnostics.map((each) => `${diagnosticHead(each)}\n  hint: ${each.hint}\n`).join('');
    const table = `${tableOf(inDocuments)}\n${tableOf(around)}`;
    await expect(table).toMatchFileSnapshot('diagnostics-table.golden.txt');
  });

  it('stands in it, whatever its code', () => {
    const codes = new Set([...shown.map(({ code }): string => code), ...OF_JOBS]);
    expect(Object.keys(ERROR_CODES).filter((code) => !codes.has(code))).toEqual([]);
  });

  it.each(placed)('%s: has a place in the document', (head) => {
    expect(head).toMatch(/^E\d{4}[\w.-]*\.yaml:\d+:\d+: (?:error|warning) E\d{4} \S/);
  });

  it.each(titled)('%s: says what to do, in a sentence', (_, { code, hint }) => {
    expect(hint).toMatch(IMPERATIVE);
    expect(hint).toMatch(/[.?]$/);
    const { hasOwnHints, hint: general }: ErrorCode = ERROR_CODES[code];
    if (hasOwnHints) expect(hint).not.toBe(general);
  });

  it.each(titled)('%s: says what is wrong, in plain words', (_, { message }) => {
    expect(message).not.toMatch(/\b(?:is none|none is|where it|what is|must have required)\b|[.\n]$/);
    expect(message).not.toMatch(/must be (?:a|an) ([a-z ]+?)(?: [a-z ]*)?, but is \1/);
  });

  it('is said once', () => {
    const heads = titled.map(([head]) => head);
    expect(heads).toEqual([...new Set(heads)]);
  });
});
