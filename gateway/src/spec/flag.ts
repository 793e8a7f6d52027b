import type { Diagnostics } from './diagnostic.ts';
import { type Located, member, placeOf } from './documents.ts';
import { kindOf } from './json.ts';

/** Returns a member that is true or false; undefined if it is absent, or neither (E1004), such as `"true"`. */
export function flagOf(owner: Located, name: string, diagnostics: Diagnostics): boolean | undefined {
  const at = member(owner, name);
  if (at.value === undefined || typeof at.value === 'boolean') return at.value;
  diagnostics.add(
    'E1004',
    placeOf(at),
    `"${name}" is ${kindOf(at.value)}: it must be true or false`,
    `Write ${name}: true or ${name}: false, without quotation marks.`,
  );
  return undefined;
}
