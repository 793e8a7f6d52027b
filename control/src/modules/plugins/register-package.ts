/** Registers a plugin's package as a version in the registry. */
import { createHash, randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PluginManifest, ProjectPlugin } from '@gw/gateway/compiler';
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import { recordChange } from '../audit/record-change.ts';
import { recorded, resourceOf } from './record.ts';
import { findPlugin, insertNewPlugin, lockPlugin, type PluginRecord, type PluginRow, updatePlugin } from './store.ts';

/** A package whose module has been checked. */
export interface CheckedPackage {
  readonly manifest: PluginManifest;
  readonly wasm: Uint8Array;
  readonly configSchema?: NonNullable<ProjectPlugin['configSchema']> | null;
}

export interface RegisterOptions {
  /** Whether it comes with gw. */
  readonly builtin: boolean;
  /** Existing content of the same name and version to replace: nothing, that of gw, or any. */
  readonly replace: 'nothing' | 'builtin' | 'all';
}

/** `exists`: it existed with other content, which was kept. `row` is the current row. */
export interface Registration {
  readonly outcome: 'registered' | 'updated' | 'unchanged' | 'exists';
  readonly row: PluginRow;
}

/** Registers a package; safe if several processes register the same at once. */
export async function registerPackage(
  { db, blobs }: Pick<Context, 'db' | 'blobs'>,
  actor: Actor,
  { manifest, wasm, configSchema = null }: CheckedPackage,
  { builtin, replace }: RegisterOptions,
): Promise<Registration> {
  const { name, version } = manifest;
  const sha256 = createHash('sha256').update(wasm).digest('hex');
  const record: PluginRecord = { manifest, configSchema, module: { sha256, size: wasm.length }, builtin };
  const known = await findPlugin(db.kysely, name, version);
  const left = known && leftAlone(known, record, replace);
  if (left) return left;
  await blobs.put(once(wasm), wasm.length);
  return db.kysely.transaction().execute(async (tx): Promise<Registration> => {
    const created = await insertNewPlugin(tx, randomUUIDv7(), record);
    const change = { action: 'plugins.register' };
    if (created) {
      await recordChange(tx, actor, { ...change, resource: resourceOf(created), after: recorded(created) });
      return { outcome: 'registered', row: created };
    }
    const before = await lockPlugin(tx, name, version);
    // Deleted between the two statements.
    if (!before) throw new Error(`plugin "${name}" ${version} was deleted while it was being registered: try again`);
    const same = leftAlone(before, record, replace);
    if (same) return same;
    const row = await updatePlugin(tx, before.id, record);
    await recordChange(tx, actor, {
      ...change,
      resource: resourceOf(row),
      before: recorded(before),
      after: recorded(row),
    });
    return { outcome: 'updated', row };
  });
}

/** Returns null if the record replaces the row. */
function leftAlone(row: PluginRow, record: PluginRecord, replace: RegisterOptions['replace']): Registration | null {
  const isSame =
    row.sha256 === record.module.sha256 &&
    isDeepStrictEqual(row.manifest, record.manifest) &&
    isDeepStrictEqual(row.config_schema, record.configSchema);
  if (isSame) return row.builtin || !record.builtin ? { outcome: 'unchanged', row } : null;
  const mayReplace = replace === 'all' || (replace === 'builtin' && row.builtin);
  return mayReplace ? null : { outcome: 'exists', row };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
