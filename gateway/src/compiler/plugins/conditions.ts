/**
 * Expressions in config (`x-gw-cel: true`), checked as the gateway will compile them (docs/reference/plugins.md#cel).
 */
import { marked } from '../../artifact/config-marks.ts';
import type { JsonObject } from '../../artifact/format.ts';
import type { ConfigFeatures, DataCompiler, ReadCondition } from '../../capability/config-checks.ts';
import { messageOf } from '../../text/message-of.ts';
import type { Project } from '../project/project.ts';
import { isReference } from './config-schema.ts';
import type { PreparedPlugin } from './plugins.ts';

/** Members of `request` that are the same for every call of a tool by one caller. */
const OF_CALLERS: ReadonlySet<string> = new Set(['method', 'consumer', 'groups', 'claims']);

/** Checks of configs that features bring. */
export interface ConfigChecks extends Pick<ConfigFeatures, 'isHash'> {
  /** Null if the project uses no conditions. */
  readonly readCondition: ReadCondition | null;
  /** Compilers of data by kind; those that the project may need. */
  readonly dataCompilers: ReadonlyMap<string, DataCompiler>;
}

export interface CheckedConditions {
  /** Names of request headers that the expressions read, in lower case. */
  readonly headers: readonly string[];
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

/**
 * Loads the language if the project may use it: loading takes longer than compiling a small project, and a document
 * that uses a plugin names it.
 */
export async function conditionReader(
  { plugins, files }: Project,
  { loadConditions }: ConfigFeatures,
): Promise<ReadCondition | null> {
  const used = plugins.some(({ name, configSchema }) => mentionsMark(configSchema) && isMentioned(name, files));
  return used ? await loadConditions() : null;
}

/** Loads the compilers of data that plugins of the project name, if a document may use these. */
export async function dataCompilersOf(
  { plugins, files }: Project,
  { loadDataCompiler }: ConfigFeatures,
): Promise<ReadonlyMap<string, DataCompiler>> {
  const kinds = plugins.flatMap(({ name, configSchema }) => {
    const kind = configSchema?.['x-gw-data'];
    return typeof kind === 'string' && isMentioned(name, files) ? [kind] : [];
  });
  const loads = [...new Set(kinds)].flatMap((kind) => {
    const load = Object.hasOwn(loadDataCompiler, kind) ? loadDataCompiler[kind] : undefined;
    return load ? [[kind, load] as const] : [];
  });
  return new Map(await Promise.all(loads.map(async ([kind, load]) => [kind, await load()] as const)));
}

/** Reports whether a file may name the plugin. */
function isMentioned(name: string, files: Project['files']): boolean {
  return files.some(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(name));
}

function mentionsMark(schema: JsonObject | undefined): boolean {
  return schema !== undefined && JSON.stringify(schema).includes('"x-gw-cel":true');
}

/** Returns the headers that the expressions of a plugin's config read, and their errors. */
export function checkConditions(
  plugin: PreparedPlugin,
  config: JsonObject,
  read: ReadCondition | null,
): CheckedConditions {
  const headers = new Set<string>();
  const errors: { pointer: string; message: string }[] = [];
  for (const { pointer, value } of plugin.marks.conditions.flatMap((pattern) => marked(config, pattern))) {
    if (typeof value !== 'string' || isReference(value) || read === null) continue;
    try {
      for (const name of read(value).headers) headers.add(name);
    } catch (error) {
      errors.push({ pointer, message: `"${pointer.slice(1)}", ${messageOf(error)}` });
    }
  }
  return { headers: [...headers], errors };
}

/**
 * Reports whether a use of the plugin decides by the caller alone, so that its decision is known before there is a
 * request.
 */
export function decidesByCaller(plugin: PreparedPlugin, config: JsonObject, read: ReadCondition | null): boolean {
  if (!plugin.manifest.authorizes) return false;
  return plugin.marks.conditions
    .flatMap((pattern) => marked(config, pattern))
    .every(({ value }) => {
      if (typeof value !== 'string' || isReference(value) || read === null) return false;
      try {
        return [...read(value).parts].every((part) => OF_CALLERS.has(part));
      } catch {
        // Binding the plugin reports the error.
        return false;
      }
    });
}
