/** The action `ctl`, which changes switches and rules for one transaction. */

import { quoted } from './diagnostics.ts';
import type { Effect, Exclusion, RuleQuery } from './model.ts';
import { NameTable } from './name-table.ts';
import { refuseName } from './names.ts';
import { PartFault, within } from './part-fault.ts';
import { trimmed } from './source.ts';
import { parseTargets } from './targets.ts';
import { REFUSED_CONTROLS } from './unsupported.ts';
import { REMOVALS, SWITCHES, type Switch } from './vocabulary.ts';

/** Reads the value behind the =. */
type ReadEffects = (value: string) => readonly Effect[];

type Removal = (typeof REMOVALS)[keyof typeof REMOVALS];

const known = new NameTable<ReadEffects>([
  ...entriesOf(SWITCHES).map(([name]) => [name, (value: string) => [switchEffect(name, value)]] as const),
  ...entriesOf(REMOVALS).map(([name, removal]) => [name, (value: string) => removals(name, removal, value)] as const),
]);
const refused = new NameTable(Object.entries(REFUSED_CONTROLS));

function entriesOf<Key extends string, Value>(table: Readonly<Record<Key, Value>>): readonly (readonly [Key, Value])[] {
  return Object.entries(table) as [Key, Value][];
}

/** Several effects if a target is removed that is written as a list. Throws PartFault. */
export function controlEffect(text: string): readonly Effect[] {
  const equals = text.indexOf('=');
  const written = trimmed(equals < 0 ? text : text.slice(0, equals));
  const [name, read] = known.get(written) ?? refuseName('ctl action', written, 0, { known, refused });
  const value = equals < 0 ? '' : trimmed(text.slice(equals + 1));
  if (value === '')
    throw new PartFault(0, `ctl:${name} has no value`, `Write it behind an =, as in ctl:${name}=VALUE.`);
  return within(text.indexOf(value, equals + 1), () => read(value));
}

/** Spellings of each value, as the engine gets it. */
const VALUES = {
  onOff: ['On', 'Off'],
  engine: ['On', 'Off', 'DetectionOnly'],
  audit: ['On', 'Off', 'RelevantOnly'],
  processor: ['URLENCODED', 'MULTIPART', 'XML', 'JSON'],
} as const;

function switchEffect(name: Switch, text: string): Effect {
  const kind = SWITCHES[name];
  if (kind !== 'bytes') return { kind: 'switch', name, value: oneOf(VALUES[kind], text) };
  if (!/^\d{1,12}$/.test(text)) throw new PartFault(0, `${quoted(text)} is not a number of bytes`, 'Write digits.');
  return { kind: 'switch', name, value: text };
}

function removals(name: string, { by, target }: Removal, value: string): readonly Effect[] {
  if (!target) return [{ kind: 'removeRules', rules: queryOf(by, value) }];
  const semicolon = value.indexOf(';');
  if (semicolon < 0)
    throw new PartFault(
      0,
      `ctl:${name} names no target`,
      `Write it behind a semicolon, as in ctl:${name}=VALUE;ARGS:name.`,
    );
  const rules = queryOf(by, trimmed(value.slice(0, semicolon)));
  const targets = exclusionsOf(value.slice(semicolon + 1), semicolon + 1);
  return targets.map((each) => ({ kind: 'removeTarget', rules, target: each }));
}

function queryOf(by: RuleQuery['by'], text: string): RuleQuery {
  return by === 'id' ? idQuery(text) : { by, text };
}

function exclusionsOf(text: string, offset: number): readonly Exclusion[] {
  const { targets, exclusions } = within(offset, () => parseTargets(trimmed(text)));
  if (exclusions.length > 0 || targets.some(({ count }) => count))
    throw new PartFault(offset, 'ctl removes a target, without ! or &', 'Write the target alone, as in ARGS:name.');
  return targets.map(({ variable, selector }) => ({ variable, selector }));
}

/** `1001` or `1001-1999`. Throws PartFault. */
export function idQuery(text: string): RuleQuery {
  const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  if (match === null || from > to)
    throw new PartFault(0, `${quoted(text)} is not an id or a range of ids`, 'Write one such as 1001 or 1001-1999.');
  return { by: 'id', from, to };
}

/** Throws PartFault. */
export function oneOf<const Value extends string>(values: readonly Value[], text: string): Value {
  const found = values.find((value) => value.toLowerCase() === text.toLowerCase());
  if (found === undefined)
    throw new PartFault(0, `unknown value ${quoted(text)}`, `Write one of ${values.join(', ')}.`);
  return found;
}
