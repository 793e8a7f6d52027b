/** Specs uploaded and compiled over REST, for tests. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import type { Compilation } from '../../control/src/modules/compilations/schemas.ts';
import { GW } from '../programs/gw.ts';
import type { ControlServer } from './server.ts';

const root = join(import.meta.dirname, '..', '..');
const BOOKSTORE = join(root, 'examples', 'bookstore', 'project');

export type Rest = Pick<ControlServer, 'ask' | 'get'>;

/** Id of the spec. */
export async function uploadSpec(server: Rest, file: string, text: string, projectId?: string): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([text]), file);
  const path = projectId === undefined ? '/specs' : `/projects/${projectId}/specs`;
  return (await server.get<{ id: string }>(path, { method: 'POST', body })).id;
}

export async function createProject(server: Rest, more: object = {}): Promise<string> {
  const json = { name: `p-${crypto.randomUUID()}`, ...more };
  return (await server.get<{ id: string }>('/projects', { method: 'POST', json })).id;
}

/** Asks for a compilation; `of` is `/specs/ID` or `/projects/ID`. */
export function compile(server: Rest, of: string, json: object = {}): Promise<Compilation> {
  return server.get(`${of}/compile`, { method: 'POST', json });
}

/** Asks for a compilation, and follows it to its end. */
export async function compiled(server: Rest, of: string, json: object = {}): Promise<Compilation> {
  const { id } = await compile(server, of, json);
  const last = (await follow(server, id)).at(-1);
  if (!last) throw new Error('the compilation told nothing');
  return last;
}

/** What a compilation tells of itself until it has ended. */
export async function follow(server: Rest, id: string): Promise<Compilation[]> {
  const response = await server.ask(`/compilations/${id}/events`);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return [...(await response.text()).matchAll(/^event: compilation\ndata: (.*)$/gm)].map(([, data = '']) =>
    JSON.parse(data),
  );
}

/** A document of so many operations, which are answered by `mock`. */
export function specOf(operations: number, more = ''): string {
  const paths = Array.from(
    { length: operations },
    (_, i) => `  /p${i}:\n    get: { x-gw-dispatch: { name: mock, config: { body: "${i}" } } }\n`,
  );
  return `openapi: 3.1.0\ninfo: { title: Made, version: "1" }\n${more}paths:\n${paths.join('')}`;
}

/** Takes seconds to compile. */
export const bigSpec = (): string => specOf(6_000);

interface BookstoreManifest {
  readonly upstreams: Readonly<Record<string, { readonly url: string }>>;
  readonly plugins: Readonly<Record<string, { readonly config?: object }>>;
}

/** The example as a project, its spec uploaded; ids of both. */
export async function bookstore(server: Rest): Promise<{ readonly projectId: string; readonly specId: string }> {
  const manifest = load(readFileSync(join(BOOKSTORE, 'gw.yaml'), 'utf8')) as BookstoreManifest;
  const upstreams = Object.fromEntries(Object.entries(manifest.upstreams).map(([name, { url }]) => [name, url]));
  const projectId = await createProject(server, { upstreams });
  const all = await server.get<readonly { name: string; version: string }[]>('/plugins?limit=200');
  for (const [name, { config = {} }] of Object.entries(manifest.plugins)) {
    const plugin_version = all.find((each) => each.name === name)?.version;
    const json = { plugin_name: name, plugin_version, enabled: true, config };
    await server.get(`/projects/${projectId}/plugins`, { method: 'POST', json });
  }
  const text = readFileSync(join(BOOKSTORE, 'specs', 'bookstore.yaml'), 'utf8');
  return { projectId, specId: await uploadSpec(server, 'bookstore.yaml', text, projectId) };
}

/** The hash that `gw compile` gives for the same. */
export const bookstoreHash = () => hashByCommandLine(join(BOOKSTORE, 'gw.yaml'));

export async function hashByCommandLine(manifest: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-compiling-'));
  try {
    const args = ['compile', '-m', manifest, '-o', join(folder, 'out.gwa'), '--allow-plaintext', '--format', 'json'];
    const { stdout } = await gw(args);
    return JSON.parse(stdout).artifact_hash;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs the command line; rejects where it exits with another code than 0. */
export function gw(args: readonly string[]): Promise<{ readonly stdout: string }> {
  return promisify(execFile)(process.execPath, [GW, ...args]);
}
