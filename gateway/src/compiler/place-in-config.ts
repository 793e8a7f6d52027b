import type { Place } from '../spec/diagnostic.ts';
import { member, placeOf } from '../spec/documents.ts';
import type { DeclaredUse } from '../spec/extensions.ts';
import type { JsonObject } from '../spec/json.ts';
import { valueAt } from '../spec/pointer.ts';
import { manifestPlace } from './manifest-place.ts';
import type { Project } from './project.ts';

/** What the project declares of a plugin. */
export interface ProjectConfig {
  readonly project: Project;
  readonly plugin: { readonly name: string; readonly config: JsonObject };
}

/**
 * In the operation's own config where it says so; where the project says so, in its manifest, if it has one. Else the
 * use.
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
