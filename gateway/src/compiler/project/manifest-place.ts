/** Finds the place of a declaration in the project's file, if the project names it (`Project.manifest`). */
import type { Place } from '../../spec/diagnostic.ts';
import { child } from '../../spec/pointer.ts';
import type { Project } from './project.ts';

/** Returns the place of a member by its keys, and of the value at `pointer` below it; null if no file declares it. */
export function manifestPlace({ manifest }: Project, keys: readonly string[], pointer = ''): Place | null {
  return manifest ? { file: manifest.name, pointer: keys.reduce(child, '') + pointer } : null;
}
