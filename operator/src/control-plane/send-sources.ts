/** Makes the specs, plugins and upstreams of a project at a control plane those of its cluster. */
import { type Api, ApiError, type Plugin, type ProjectPlugin, type Spec } from '@gw/control/client';
import type { ProjectPlugin as PluginPackage } from '@gw/gateway/compiler';
import { answerText } from './connection.ts';
import type { Sources, SpecUpload } from './sources.ts';

/** Makes a version of a plugin known; returns why it could not be, null where it is. */
export type Register = (plugin: Registrable) => Promise<string | null>;
export type Registrable = PluginPackage & Required<Pick<PluginPackage, 'manifest'>>;

export interface SendOptions {
  readonly api: Api;
  readonly projectId: string;
  /** Of the project: what it is for people. */
  readonly about: { readonly name: string; readonly description: string };
  readonly sources: Sources;
  readonly plugins: readonly PluginPackage[];
  readonly register: Register;
}

/** What the control plane refused, a line each; the artifact is complete without. Throws where it is away. */
export async function sendSources(options: SendOptions): Promise<readonly string[]> {
  const { api, projectId, about, sources } = options;
  const refused: string[] = [];
  await attempt(refused, 'upstreams are not sent', () =>
    api.json(`/projects/${projectId}`, { method: 'PUT', json: { ...about, upstreams: sources.upstreams } }),
  );
  await sendPlugins(options, refused);
  await sendSpecs(options, refused);
  return refused;
}

async function sendPlugins({ api, projectId, sources, plugins, register }: SendOptions, refused: string[]) {
  const path = `/projects/${projectId}/plugins`;
  const before = await api.list<ProjectPlugin>(path);
  for (const { manifest, ...plugin } of plugins) {
    const why = manifest ? await register({ ...plugin, manifest }) : null;
    if (why !== null) refused.push(`plugin "${plugin.name}" is not in the registry: ${why}`);
  }
  for (const json of sources.plugins) {
    const { plugin_name: name } = json;
    const known = before.some(({ plugin_name }) => plugin_name === name);
    await attempt(refused, `plugin "${name}" is not sent`, () =>
      api.json(known ? `${path}/${name}` : path, { method: known ? 'PUT' : 'POST', json }),
    );
  }
  for (const { plugin_name: name } of before) {
    if (sources.plugins.some(({ plugin_name }) => plugin_name === name)) continue;
    await attempt(refused, `plugin "${name}" is not removed`, () => api.json(`${path}/${name}`, { method: 'DELETE' }));
  }
}

async function sendSpecs({ api, projectId, sources }: SendOptions, refused: string[]) {
  const path = `/projects/${projectId}/specs`;
  const before = await api.list<Spec>(path);
  for (const spec of sources.specs) {
    if (before.some(({ name, sha256 }) => name === spec.name && sha256 === spec.sha256)) continue;
    await attempt(refused, `spec "${spec.name}" is not sent`, () =>
      api.json(path, { method: 'POST', form: form(spec) }),
    );
  }
  for (const { id, name } of before) {
    if (sources.specs.some((spec) => spec.name === name)) continue;
    await attempt(refused, `spec "${name}" is not removed`, () => api.json(`/specs/${id}`, { method: 'DELETE' }));
  }
}

function form({ name, filename, entry, bytes }: SpecUpload): FormData {
  const fields = new FormData();
  fields.append('name', name);
  if (entry !== undefined) fields.append('entry', entry);
  fields.append('file', new Blob([new Uint8Array(bytes)]), filename);
  return fields;
}

/** What is refused for what it is goes on the list; everything else is thrown, and tried again. */
async function attempt(refused: string[], what: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 403, 409, 413, 422].includes(error.status)) throw error;
    refused.push(`${what}: the control plane ${answerText(error)}`);
  }
}

/** By REST: a version that is there is never replaced. */
export const registerAt =
  (api: Api): Register =>
  async ({ name, manifest, wasm, configSchema }) => {
    const { version, type, description, name: _, ...capabilities } = manifest;
    const known = await found(api, `/plugins/${name}/${encodeURIComponent(version)}`);
    if (known) return null;
    const fields = new FormData();
    for (const [field, value] of Object.entries({ name, version, type, description })) {
      if (value !== undefined) fields.append(field, value);
    }
    fields.append('capabilities', JSON.stringify(capabilities));
    if (configSchema) fields.append('config_schema', JSON.stringify(configSchema));
    fields.append('file', new Blob([new Uint8Array(wasm)], { type: 'application/wasm' }), `${name}.wasm`);
    const refused: string[] = [];
    await attempt(refused, `version ${version}`, () => api.json('/plugins', { method: 'POST', form: fields }));
    return refused[0] ?? null;
  };

async function found(api: Api, path: string): Promise<Plugin | null> {
  try {
    return await api.json<Plugin>(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
