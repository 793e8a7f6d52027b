/** Looks up names of SecLang, and explains those that the engine does not know. */

import { quoted } from './diagnostics.ts';
import { NameTable } from './name-table.ts';
import { PartFault } from './part-fault.ts';
import { REFUSED_VARIABLES } from './unsupported.ts';
import { VARIABLES, type VariableName } from './vocabulary.ts';

/** Throws PartFault for a name that is refused or unknown. `kind`: such as "variable". */
export function refuseName(
  kind: string,
  name: string,
  offset: number,
  { known, refused }: { readonly known: NameTable<unknown>; readonly refused: NameTable<string> },
): never {
  const reason = refused.get(name);
  if (reason !== undefined)
    throw new PartFault(offset, `the ${kind} ${reason[0]} is not supported`, `Remove it: ${reason[1]}.`);
  const near = known.near(name);
  throw new PartFault(
    offset,
    `unknown ${kind} ${quoted(name)}`,
    near === undefined ? `Correct the name, or remove the rule.` : `Write ${near}.`,
  );
}

const known = new NameTable(Object.keys(VARIABLES).map((name) => [name, name as VariableName] as const));
const refused = new NameTable(Object.entries(REFUSED_VARIABLES));

/** Throws PartFault if rules have no such variable. */
export function variableNamed(name: string, offset: number): VariableName {
  return known.get(name)?.[1] ?? refuseName('variable', name, offset, { known, refused });
}

export function isCollection(variable: VariableName): boolean {
  return VARIABLES[variable] === 'collection';
}
