/** A version of a plugin in the form of the REST API. */
import type { Plugin } from './schemas.ts';
import type { PluginRow } from './store.ts';

export function present(row: PluginRow): Plugin {
  const { manifest } = row;
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    type: row.type,
    description: row.description,
    capabilities: [...manifest.host_functions],
    request_body: manifest.request_body,
    response_body: manifest.response_body,
    authenticates: manifest.authenticates === true,
    config_schema: row.config_schema,
    sha256: row.sha256,
    size: row.size,
    builtin: row.builtin,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Returns the plugin for the audit log, without the config schema, which can be long. */
export function recorded(row: PluginRow): object {
  const { config_schema: _, ...plugin } = present(row);
  return plugin;
}

/** Returns the resource in the audit log. */
export const resourceOf = ({ id }: PluginRow) => ({ type: 'plugin', id, projectId: null });
