/** The registry of plugins (docs/reference/control-plane.md#plugins): versions of WASM modules, for all projects. */
import type { ProjectPlugin } from '@gw/gateway/compiler';
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import type { BlobInfo } from '../../db/blobs.ts';
import { violatedConstraint } from '../../db/violations.ts';
import { ControlError } from '../../errors.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { recordChange } from '../audit/record-change.ts';
import { comesWithGw } from './builtin-plugins.ts';
import { fieldFault, manifestOf, readCapabilities, readJson } from './capabilities.ts';
import type { PluginChecks } from './plugin-checks.ts';
import { present, recorded, resourceOf } from './record.ts';
import { registerPackage } from './register-package.ts';
import type { Plugin, PluginInput, PluginQuery } from './schemas.ts';
import { deletePlugin, findPlugin, listPlugins, lockPlugin, type PluginRow, versionsOf } from './store.ts';
import { compareVersions } from './version-order.ts';

export interface VersionedPlugin {
  readonly plugin: Plugin;
  /** The version in its ETag. */
  readonly version: number;
}

export class Plugins {
  readonly #context: Context;
  readonly #checks: PluginChecks;

  constructor(context: Context, checks: PluginChecks) {
    this.#context = context;
    this.#checks = checks;
  }

  /** Lists plugins, one row for each version. */
  async list(actor: Actor, query: PluginQuery = {}): Promise<Page<Plugin>> {
    actor.mustHave('viewer');
    return mapPage(await listPlugins(this.#context.db.kysely, query), present);
  }

  /** Lists versions, newest first. */
  async versions(actor: Actor, name: string): Promise<readonly Plugin[]> {
    actor.mustHave('viewer');
    const rows = await versionsOf(this.#context.db.kysely, name);
    if (rows.length === 0) throw ControlError.notFound(`plugin "${name}"`);
    return rows.sort((a, b) => compareVersions(b.version, a.version)).map(present);
  }

  async get(actor: Actor, name: string, version: string): Promise<VersionedPlugin> {
    return versioned(await this.#find(actor, name, version));
  }

  /** Returns the blob of the WASM module. */
  async download(actor: Actor, name: string, version: string): Promise<BlobInfo> {
    const { sha256, size } = await this.#find(actor, name, version);
    return { sha256, size };
  }

  /** Throws 422 for an invalid field, or a module that no gateway would load, and 409 for an existing version. */
  async register(actor: Actor, input: PluginInput, wasm: Uint8Array): Promise<VersionedPlugin> {
    actor.mustBeGlobal('admin');
    const { name, version } = input;
    const configSchema = readSchema(input.config_schema);
    const inspected = await this.#checks.inspect(wasm);
    if ('why' in inspected) throw invalid('/file', inspected.why);
    const manifest = manifestOf(input, readCapabilities(input.capabilities, inspected.bodies));
    const fault = await this.#checks.faultOf({ manifest, wasm, configSchema });
    if (fault?.file === 'config-schema.json') throw fieldFault('config_schema', `is not usable: ${fault.message}`);
    if (fault) throw invalid('/file', fault.message.replaceAll('its plugin.toml', 'the registration'));
    const options = { builtin: false, replace: 'nothing' } as const;
    const { outcome, row } = await registerPackage(this.#context, actor, { manifest, wasm, configSchema }, options);
    if (outcome === 'registered') return versioned(row);
    throw new ControlError('conflict', `${named(name, version)} already exists: choose another version`);
  }

  /** Throws a conflict while a project uses it, and if it comes with gw. */
  async delete(actor: Actor, name: string, version: string): Promise<void> {
    actor.mustBeGlobal('admin');
    try {
      await this.#context.db.kysely.transaction().execute(async (db) => {
        const before = await lockPlugin(db, name, version);
        if (!before) throw ControlError.notFound(named(name, version));
        if (before.builtin && comesWithGw(name, version)) {
          throw new ControlError(
            'conflict',
            `${named(name, version)} comes with gw, and would be registered again at its next start`,
          );
        }
        await deletePlugin(db, before.id);
        await recordChange(db, actor, {
          action: 'plugins.delete',
          resource: resourceOf(before),
          before: recorded(before),
        });
      });
    } catch (error) {
      if (violatedConstraint(error) !== 'project_plugins_plugin') throw error;
      throw new ControlError('conflict', `projects use ${named(name, version)}: remove it from them first`);
    }
  }

  async #find(actor: Actor, name: string, version: string): Promise<PluginRow> {
    actor.mustHave('viewer');
    const row = await findPlugin(this.#context.db.kysely, name, version);
    if (!row) throw ControlError.notFound(named(name, version));
    return row;
  }
}

const named = (name: string, version: string): string => `plugin "${name}" of version ${version}`;

const versioned = (row: PluginRow): VersionedPlugin => ({ plugin: present(row), version: row.updated_at.getTime() });

function invalid(pointer: string, message: string): ControlError {
  return new ControlError('plugin-invalid', `a gateway would not load it: ${message}`, {
    errors: [{ pointer, message }],
  });
}

function readSchema(text: string | undefined): NonNullable<ProjectPlugin['configSchema']> | null {
  if (text === undefined) return null;
  const schema = readJson(text, 'config_schema');
  if (isJsonObject(schema)) return schema;
  throw fieldFault('config_schema', 'must be a JSON Schema that is an object');
}

/** Checks a result of JSON.parse. */
function isJsonObject(value: unknown): value is NonNullable<ProjectPlugin['configSchema']> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
