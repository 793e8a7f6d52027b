/** Places of values that a project's file or a use of a plugin declares, for diagnostics. */
import type { Place } from '../../spec/diagnostic.ts';
import { member, placeOf } from '../../spec/documents.ts';
import type { DeclaredUse } from '../../spec/extensions.ts';
import type { JsonObject } from '../../spec/json.ts';
import { child, valueAt } from '../../spec/pointer.ts';
import type { Project } from './project.ts';

/** Returns the place of a member by its keys, and of the value at `pointer` below it; null if no file declares it. */
export function manifestPlace({ manifest }: Project, keys: readonly string[], pointer = ''): Place | null {
  return manifest ? { file: manifest.name, pointer: keys.reduce(child, '') + pointer } : null;
}

/** A plugin as the project declares it. */
export interface ProjectConfig {
  readonly project: Project;
  readonly plugin: { readonly name: string; readonly config: JsonObject };
}

/**
 * Returns the place in the operation's own config if it sets the value; else in the project's manifest, if that sets
 * it. Else the place of the use.
 */
export function placeInConfig({ at, config }: DeclaredUse, pointer: string, declared?: ProjectConfig): Place {
  if (pointer !== '' && valueAt(config, pointer) === undefined) {
    const isProjects = declared && valueAt(declared.plugin.config, pointer) !== undefined;
    const place = isProjects
      ? manifestPlace(declared.project, ['plugins', declared.plugin.name, 'config'], pointer)
      : null;
    return place ?? placeOf(at);
  }
  const { file, pointer: base } = placeOf(member(at, 'config'));
  return { file, pointer: base + pointer };
}
