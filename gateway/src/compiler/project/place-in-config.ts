import type { Place } from '../../spec/diagnostic.ts';
import { member, placeOf } from '../../spec/documents.ts';
import type { DeclaredUse } from '../../spec/extensions.ts';
import type { JsonObject } from '../../spec/json.ts';
import { valueAt } from '../../spec/pointer.ts';
import { manifestPlace } from './manifest-place.ts';
import type { Project } from './project.ts';

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
