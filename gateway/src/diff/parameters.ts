/**
 * Changes of an operation's parameters. Path parameters are compared by place: clients do not see their names. Values
 * of an undeclared parameter were not checked, and clients that sent them may be refused once it is declared.
 */
import type { Operation, Parameter } from '../artifact/format.ts';
import { parseTemplate } from '../router/template.ts';
import { breaking, type Change, harmless } from './change.ts';
import { inRequest } from './findings.ts';
import type { SchemaComparison } from './schemas.ts';

export function diffParameters(
  subject: string,
  before: Operation,
  after: Operation,
  schemas: SchemaComparison,
): readonly Change[] {
  const [old, now] = [byKey(before), byKey(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key): readonly Change[] => {
    const [from, to] = [old.get(key), now.get(key)];
    if (from && to) return diffParameter(subject, from, to, schemas);
    if (to) {
      const what = `${nameOf(to)} added`;
      if (to.required && to.in !== 'path') return [breaking(subject, `${what}, and required`)];
      return [isChecked(to) ? breaking(subject, `${what}, and its values are checked now`) : harmless(subject, what)];
    }
    return from ? [harmless(subject, `${nameOf(from)} is not declared any more`)] : [];
  });
}

function diffParameter(subject: string, before: Parameter, after: Parameter, schemas: SchemaComparison): Change[] {
  const name = nameOf(after);
  const changes: Change[] = [];
  if (after.required && !before.required) changes.push(breaking(subject, `${name} is required now`));
  if (before.required && !after.required) changes.push(harmless(subject, `${name} is not required any more`));
  const written = writtenAs(before) !== writtenAs(after);
  if (written)
    changes.push(breaking(subject, `${name} is written otherwise: ${writtenAs(before)} → ${writtenAs(after)}`));
  return [...changes, ...inRequest(subject, name, schemas.compare(before.schema, after.schema))];
}

/** Reports whether some text is not a value of it. */
function isChecked({ schema, content_type: type, types }: Parameter): boolean {
  return schema !== undefined || type !== undefined || types.some((each) => each !== 'string');
}

function writtenAs({ style, explode, content_type, types }: Parameter): string {
  if (content_type !== undefined) return content_type;
  // For a plain value, `explode` makes no difference.
  const structured = types.includes('array') || types.includes('object');
  return structured ? `${style}${explode ? ', exploded' : ''}` : style;
}

function nameOf({ name, in: part }: Parameter): string {
  return `parameter "${name}" in ${part}`;
}

function byKey({ path, parameters }: Operation): ReadonlyMap<string, Parameter> {
  const places = placesIn(path);
  return new Map(
    parameters.map((each) => [each.in === 'path' ? `path ${places.get(each.name)}` : `${each.in} ${each.name}`, each]),
  );
}

/** Returns the places of a path's parameters: equal places of two paths hold the same part of a request's path. */
function placesIn(path: string): ReadonlyMap<string, string> {
  const { segments } = parseTemplate(path);
  return new Map(
    segments.flatMap((segment, i): [string, string][] => {
      if (segment.kind === 'static') return [];
      if (segment.kind !== 'pattern') return [[segment.name, `${segment.kind} ${i}`]];
      const { names, literals } = segment.pattern;
      return names.map((name, n): [string, string] => [name, JSON.stringify([i, literals, n])]);
    }),
  );
}
