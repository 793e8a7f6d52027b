/** `POST /init`: a project that compiles and deploys without changes (docs/reference/control-plane.md#init). */
import { randomUUIDv7 } from 'node:crypto';
import { asyncTemplateSpec, STARTER_PLUGINS, templateSpec } from '@gw/gateway/starter';
import type { Kysely } from 'kysely';
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import type { Schema } from '../../db/schema.ts';
import { ControlError } from '../../errors.ts';
import type { ProjectRow } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { type PluginRow, versionsOf } from '../plugins/store.ts';
import { newestVersion } from '../plugins/version-order.ts';
import { insertProjectPlugin } from '../project-plugins/store.ts';
import { readSpec } from '../specs/read-spec.ts';
import { revise } from '../specs/revise.ts';
import type { SpecRow } from '../specs/store.ts';
import type { InitInput } from './schemas.ts';
import { insertProject } from './store.ts';

/** The name that `gw init` uses. */
const NAME = 'api';
const FILENAME = 'api.yaml';

export interface StartedProject {
  readonly project: ProjectRow;
  readonly spec: SpecRow;
}

/** Prepares slow parts, and returns the work of one transaction. */
export async function starter(
  { blobs }: Context,
  actor: Actor,
  { name, description = '', type = 'openapi' }: InitInput,
): Promise<(db: Kysely<Schema>) => Promise<StartedProject>> {
  const text = type === 'asyncapi' ? asyncTemplateSpec(name) : templateSpec('basic', name);
  const bytes = Buffer.from(text);
  const blob = await blobs.put(once(bytes), bytes.length);
  const { reading } = await readSpec(blobs, { sha256: blob.sha256, owner: '', filename: FILENAME, name: NAME });
  return async (db) => {
    const plugins = await Promise.all(STARTER_PLUGINS.map((plugin) => newest(db, plugin)));
    const project = await insertProject(db, { id: randomUUIDv7(), name, description, upstreams: {}, mcp: {} });
    for (const { manifest, config_schema } of plugins) {
      await insertProjectPlugin(db, project.id, { plugin: { manifest, config_schema }, enabled: true, config: {} });
    }
    await recordChange(db, actor, {
      action: 'projects.init',
      resource: { type: 'project', id: project.id, projectId: project.id },
      after: { name, description, plugins: plugins.map((plugin) => ({ name: plugin.name, version: plugin.version })) },
    });
    const made = { projectId: project.id, name: NAME, filename: FILENAME, document: blob, blob, reading };
    const revision = { ...made, outcomes: [], bindings: [], action: 'projects.init' };
    const { spec } = await revise(db, actor, revision);
    return { project, spec };
  };
}

async function newest(db: Kysely<Schema>, name: string): Promise<PluginRow> {
  const versions = await versionsOf(db, name);
  const wanted = versions.length > 0 ? newestVersion(versions.map(({ version }) => version)) : undefined;
  const found = versions.find(({ version }) => version === wanted);
  if (found) return found;
  const detail = `the starter spec needs the plugin "${name}", which is not registered: run gw-control seed-plugins, or register it`;
  throw new ControlError('conflict', detail);
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
