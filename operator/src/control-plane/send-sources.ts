/** Makes the specs, plugins and upstreams of a project at a control plane those of its cluster. */
import { ApiError, type ControlClient } from '@gw/control/client';
import type { ProjectPlugin as PluginPackage } from '@gw/gateway/compiler';
import { answerText } from './connection.ts';
import type { Sources } from './sources.ts';

/** Registers a version of a plugin; returns the reason if it could not, else null. */
export type Register = (plugin: Registrable) => Promise<string | null>;
type Registrable = PluginPackage & Required<Pick<PluginPackage, 'manifest'>>;

export interface SendOptions {
  readonly client: ControlClient;
  readonly projectId: string;
  /** Name and description of the project, for people. */
  readonly about: { readonly name: string; readonly description: string };
  readonly sources: Sources;
  readonly plugins: readonly PluginPackage[];
  readonly register: Register;
}

/**
 * Returns what the control plane refused, one line each; the artifact is complete without it. Throws if the control
 * plane is unreachable.
 */
export async function sendSources(options: SendOptions): Promise<readonly string[]> {
  const { client, projectId: id, about, sources } = options;
  const refused: string[] = [];
  await attempt(refused, 'upstreams are not sent', () =>
    client.call('projects.update', {
      params: { id },
      body: { ...about, upstreams: sources.upstreams, ...(sources.mcp === null ? {} : { mcp: sources.mcp }) },
    }),
  );
  await sendPlugins(options, refused);
  await sendSpecs(options, refused);
  return refused;
}

async function sendPlugins({ client, projectId: id, sources, plugins, register }: SendOptions, refused: string[]) {
  const params = { id };
  const before = await client.list('projectPlugins.list', { params });
  for (const { manifest, ...plugin } of plugins) {
    const why = manifest ? await register({ ...plugin, manifest }) : null;
    if (why !== null) refused.push(`plugin "${plugin.name}" is not in the registry: ${why}`);
  }
  for (const body of sources.plugins) {
    const { plugin_name: name } = body;
    const known = before.some(({ plugin_name }) => plugin_name === name);
    await attempt(refused, `plugin "${name}" is not sent`, () =>
      known
        ? client.call('projectPlugins.update', { params: { id, name }, body })
        : client.call('projectPlugins.add', { params, body }),
    );
  }
  for (const { plugin_name: name } of before) {
    if (sources.plugins.some(({ plugin_name }) => plugin_name === name)) continue;
    await attempt(refused, `plugin "${name}" is not removed`, () =>
      client.call('projectPlugins.remove', { params: { id, name } }),
    );
  }
}

async function sendSpecs({ client, projectId, sources }: SendOptions, refused: string[]) {
  const params = { id: projectId };
  const before = await client.list('specs.listOfProject', { params });
  for (const { sha256, name, entry, filename, bytes } of sources.specs) {
    if (before.some((spec) => spec.name === name && [spec.sha256, spec.document_sha256].includes(sha256))) continue;
    const form = { name, entry, file: new File([new Uint8Array(bytes)], filename) };
    await attempt(refused, `spec "${name}" is not sent`, () => client.call('specs.uploadToProject', { params, form }));
  }
  for (const { id, name } of before) {
    if (sources.specs.some((spec) => spec.name === name)) continue;
    await attempt(refused, `spec "${name}" is not removed`, () => client.call('specs.delete', { params: { id } }));
  }
}

/** Adds a refusal of the content to the list; throws every other error, which is retried. */
async function attempt(refused: string[], what: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 403, 409, 413, 422].includes(error.status)) throw error;
    refused.push(`${what}: the control plane ${answerText(error)}`);
  }
}

/** Registers by REST, which never replaces an existing version. */
export const registerAt =
  (client: ControlClient): Register =>
  async ({ name, manifest, wasm, configSchema }) => {
    const { version, type, description, name: _, ...capabilities } = manifest;
    if (await client.find('plugins.get', { params: { name, version } })) return null;
    const form = {
      ...{ name, version, type, description },
      capabilities: JSON.stringify(capabilities),
      config_schema: configSchema ? JSON.stringify(configSchema) : undefined,
      file: new File([new Uint8Array(wasm)], `${name}.wasm`, { type: 'application/wasm' }),
    };
    const refused: string[] = [];
    await attempt(refused, `version ${version}`, () => client.call('plugins.register', { form }));
    return refused[0] ?? null;
  };
