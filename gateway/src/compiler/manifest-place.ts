/** Where the project declares something, if it says which file does (`Project.manifest`). */
import type { Place } from '../spec/diagnostic.ts';
import { child } from '../spec/pointer.ts';
import type { Project } from './project.ts';

/** Place of a member by its keys, and of what `pointer` names below it; null if no file declares it. */
export function manifestPlace({ manifest }: Project, keys: readonly string[], pointer = ''): Place | null {
  return manifest ? { file: manifest.name, pointer: keys.reduce(child, '') + pointer } : null;
}
