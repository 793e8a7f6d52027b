import type { Place } from '../spec/diagnostic.ts';
import { member, placeOf } from '../spec/documents.ts';
import type { DeclaredUse } from '../spec/extensions.ts';
import { valueAt } from '../spec/pointer.ts';

/**
 * Returns the place in the operation's own config if it sets the value, else the use: project settings have no place in
 * a spec.
 */
export function placeInConfig({ at, config }: DeclaredUse, pointer: string): Place {
  if (pointer !== '' && valueAt(config, pointer) === undefined) return placeOf(at);
  const { file, pointer: base } = placeOf(member(at, 'config'));
  return { file, pointer: base + pointer };
}
