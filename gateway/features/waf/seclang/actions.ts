/** Lists of actions such as `id:1,phase:2,deny,msg:'text'`. */

import { controlEffect } from './controls.ts';
import { quoted } from './diagnostics.ts';
import { MAX_LIST } from './limits.ts';
import { parseText } from './macros.ts';
import type { Disruptive, Effect, Phase, RuleActions } from './model.ts';
import { NameTable } from './name-table.ts';
import { refuseName } from './names.ts';
import { PartFault, within } from './part-fault.ts';
import { trimmed } from './source.ts';
import { IGNORED_ACTIONS, REFUSED_ACTIONS, REFUSED_TRANSFORMATIONS, REFUSED_VARIABLES } from './unsupported.ts';
import {
  ACTIONS,
  type ActionName,
  TRANSFORMATION_ALIASES,
  TRANSFORMATIONS,
  type TransformationName,
} from './vocabulary.ts';

/** An action that has no effect here, and why. */
interface IgnoredAction {
  readonly offset: number;
  readonly name: string;
  readonly reason: string;
}

export interface ActionList {
  readonly actions: RuleActions;
  readonly ignored: readonly IgnoredAction[];
}

/** One action of the list as text. */
interface ActionText {
  readonly name: string;
  readonly nameOffset: number;
  /** Null if there is no colon. */
  readonly value: string | null;
  readonly valueOffset: number;
}

type Folded = { -readonly [Key in keyof RuleActions]: RuleActions[Key] } & {
  tags: string[];
  transformations: TransformationName[];
  effects: Effect[];
};

const known = new NameTable(ACTIONS.map((name) => [name, name] as const));
const ignored = new NameTable(Object.entries(IGNORED_ACTIONS));
const refused = new NameTable(Object.entries(REFUSED_ACTIONS));

/** Throws PartFault for what is not a list of actions. */
export function parseActions(text: string): ActionList {
  const actions: Folded = { tags: [], transformations: [], resetsTransformations: false, effects: [] };
  const inert: IgnoredAction[] = [];
  const texts = splitActions(text);
  if (texts.length > MAX_LIST)
    throw new PartFault(0, `more than ${MAX_LIST} actions`, 'Split the rule into several rules.');
  for (const each of texts) {
    const { name, nameOffset: offset } = each;
    const action = known.get(name)?.[1];
    const reason = ignored.get(name);
    if (action !== undefined) apply(actions, action, each);
    else if (reason !== undefined) inert.push({ offset, name: reason[0], reason: reason[1] });
    else refuseName('action', name, offset, { known, refused });
  }
  return { actions, ignored: inert };
}

/** Splits at commas outside single quotes; a backslash escapes a quote. */
function splitActions(text: string): readonly ActionText[] {
  const found: ActionText[] = [];
  let start = 0;
  let quote = -1;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (character === "'" && text[at - 1] !== '\\') quote = quote < 0 ? at : -1;
    if (character !== undefined && (character !== ',' || quote >= 0)) continue;
    if (quote >= 0)
      throw new PartFault(quote, 'the single quote is not closed', "Close it, or write \\' for a quote in the value.");
    found.push(actionText(text, start, at));
    start = at + 1;
  }
  return found;
}

function actionText(text: string, from: number, to: number): ActionText {
  const whole = text.slice(from, to);
  const colon = whole.indexOf(':');
  const name = trimmed(colon < 0 ? whole : whole.slice(0, colon));
  if (name === '') throw new PartFault(from, 'an action is missing', 'Remove the comma, or write an action.');
  const nameOffset = text.indexOf(name, from);
  if (colon < 0) return { name, nameOffset, value: null, valueOffset: to };
  const value = trimmed(whole.slice(colon + 1));
  const start = value === '' ? to : text.indexOf(value, from + colon + 1);
  const isQuoted = value.length >= 2 && value.startsWith("'") && value.endsWith("'");
  const inside = isQuoted ? value.slice(1, -1) : value;
  return { name, nameOffset, value: inside.replaceAll("\\'", "'"), valueOffset: isQuoted ? start + 1 : start };
}

const DISRUPTIVE: Partial<Record<ActionName, Disruptive>> = {
  block: { kind: 'block' },
  deny: { kind: 'deny' },
  drop: { kind: 'drop' },
  pass: { kind: 'pass' },
};

function apply(actions: Folded, name: ActionName, action: ActionText): void {
  const disruptive = DISRUPTIVE[name];
  if (disruptive !== undefined) {
    noValue(name, action);
    actions.disruptive = disruptive;
    return;
  }
  const apply = WITHOUT_VALUE[name];
  if (apply !== undefined) {
    noValue(name, action);
    apply(actions);
    return;
  }
  if (name === 'allow') {
    actions.disruptive = allowOf(action);
    return;
  }
  if (action.value === null || action.value === '')
    throw new PartFault(action.nameOffset, `${name} has no value`, `Write it behind a colon, as in ${example(name)}.`);
  const { value } = action;
  within(action.valueOffset, () => WITH_VALUE[name]?.(actions, value));
}

function noValue(name: ActionName, { value, valueOffset }: ActionText): void {
  if (value !== null) throw new PartFault(valueOffset, `${name} takes no value`, 'Remove the colon and the value.');
}

const EXAMPLES: Partial<Record<ActionName, string>> = {
  ctl: 'ctl:ruleRemoveById=1001',
  id: 'id:1001',
  phase: 'phase:2',
  setvar: "setvar:'tx.score=+5'",
  severity: 'severity:CRITICAL',
  skip: 'skip:1',
  skipAfter: 'skipAfter:END-CHECKS',
  status: 'status:403',
  t: 't:lowercase',
};

function example(name: ActionName): string {
  return EXAMPLES[name] ?? `${name}:'text'`;
}

/** `log` and `nolog` decide about the audit log as well. */
const WITHOUT_VALUE: Partial<Record<ActionName, (actions: Folded) => void>> = {
  auditlog: (actions) => {
    actions.audit = true;
  },
  capture: (actions) => {
    actions.capture = true;
  },
  chain: (actions) => {
    actions.chain = true;
  },
  log: (actions) => {
    actions.log = true;
    actions.audit = true;
  },
  multiMatch: (actions) => {
    actions.multiMatch = true;
  },
  noauditlog: (actions) => {
    actions.audit = false;
  },
  nolog: (actions) => {
    actions.log = false;
    actions.audit = false;
  },
};

const WITH_VALUE: Partial<Record<ActionName, (actions: Folded, value: string) => void>> = {
  ctl: (actions, value) => {
    actions.effects.push(...controlEffect(value));
  },
  id: (actions, value) => {
    if (actions.id !== undefined) throw new PartFault(0, 'the rule has two ids', 'Remove one.');
    actions.id = numberIn(value, 'id', 1, 999_999_999);
  },
  // Collections that outlive a request are refused where a rule uses them.
  initcol: () => {},
  logdata: (actions, value) => {
    actions.logdata = parseText(value);
  },
  msg: (actions, value) => {
    actions.msg = parseText(value);
  },
  phase: (actions, value) => {
    actions.phase = phaseOf(value);
  },
  redirect: (actions, value) => {
    actions.disruptive = { kind: 'redirect', location: parseText(value) };
  },
  rev: (actions, value) => {
    actions.rev = value;
  },
  setvar: (actions, value) => {
    actions.effects.push(setvar(value));
  },
  severity: (actions, value) => {
    actions.severity = severityOf(value);
  },
  skip: (actions, value) => {
    actions.skip = numberIn(value, 'number of rules to skip', 1, 100_000);
  },
  skipAfter: (actions, value) => {
    actions.skipAfter = value;
  },
  status: (actions, value) => {
    actions.status = numberIn(value, 'status', 200, 599);
  },
  t: transform,
  tag: (actions, value) => {
    actions.tags.push(value);
  },
  ver: (actions, value) => {
    actions.ver = value;
  },
};

function allowOf({ value, valueOffset }: ActionText): Disruptive {
  if (value === null) return { kind: 'allow' };
  if (value === 'phase') return { kind: 'allowPhase' };
  if (value === 'request') return { kind: 'allowRequest' };
  throw new PartFault(
    valueOffset,
    `unknown value ${quoted(value)} of allow`,
    'Write allow, allow:phase or allow:request.',
  );
}

function numberIn(value: string, what: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : -1;
  if (number < least || number > most)
    throw new PartFault(0, `${quoted(value)} is not a valid ${what}`, `Write a whole number from ${least} to ${most}.`);
  return number;
}

const PHASES: Readonly<Record<string, Phase>> = {
  '1': 1,
  '2': 2,
  '3': 3,
  '4': 4,
  '5': 5,
  request: 2,
  response: 4,
  logging: 5,
};

function phaseOf(value: string): Phase {
  const phase = PHASES[value];
  if (phase === undefined)
    throw new PartFault(
      0,
      `unknown phase ${quoted(value)}`,
      'Write a number from 1 to 5, request, response or logging.',
    );
  return phase;
}

const SEVERITIES = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'];

function severityOf(value: string): number {
  const severity = /^[0-7]$/.test(value) ? Number(value) : SEVERITIES.indexOf(value.toUpperCase());
  if (severity < 0)
    throw new PartFault(0, `unknown severity ${quoted(value)}`, `Write one of ${SEVERITIES.join(', ')}.`);
  return severity;
}

const transformations = new NameTable<TransformationName>([
  ...TRANSFORMATIONS.map((name) => [name, name] as const),
  ...Object.entries(TRANSFORMATION_ALIASES),
]);
const refusedTransformations = new NameTable(Object.entries(REFUSED_TRANSFORMATIONS));

function transform(actions: Folded, value: string): void {
  if (value.toLowerCase() === 'none') {
    actions.transformations.length = 0;
    actions.resetsTransformations = true;
    return;
  }
  const lookup = { known: transformations, refused: refusedTransformations };
  const name = transformations.get(value)?.[1] ?? refuseName('transformation', value, 0, lookup);
  actions.transformations.push(name);
}

const OTHER_COLLECTIONS = new NameTable(Object.entries(REFUSED_VARIABLES));

/** `tx.name=value`, `tx.name=+1`, `tx.name=-1`, `tx.name` (1) or `!tx.name`. */
function setvar(value: string): Effect {
  const unset = value.startsWith('!');
  const start = unset ? 1 : 0;
  const equals = value.indexOf('=');
  const target = equals < 0 ? value.slice(start) : value.slice(start, equals);
  const dot = target.indexOf('.');
  const collection = dot < 0 ? target : target.slice(0, dot);
  if (collection.toUpperCase() !== 'TX')
    throw new PartFault(
      start,
      `setvar cannot set ${quoted(collection)}`,
      `Set a member of TX, as in ${EXAMPLES.setvar}${because(OTHER_COLLECTIONS.get(collection)?.[1])}.`,
    );
  if (dot < 0 || dot === target.length - 1)
    throw new PartFault(start, 'setvar names no member of TX', `Write it behind a dot, as in ${EXAMPLES.setvar}.`);
  const name = within(start + dot + 1, () => parseText(target.slice(dot + 1)));
  if (unset && equals >= 0)
    throw new PartFault(equals, 'setvar with ! removes a variable, and takes no value', 'Remove the = and the value.');
  if (unset) return { kind: 'setvar', name, operation: 'unset', value: [] };
  if (equals < 0) return { kind: 'setvar', name, operation: 'set', value: ['1'] };
  const text = value.slice(equals + 1);
  // A sign before other text is part of the text.
  const isChange = /^[+-](?:\d{1,15}$|.*%\{)/s.test(text);
  const operation = !isChange ? 'set' : text.startsWith('+') ? 'add' : 'subtract';
  const from = isChange ? 1 : 0;
  return { kind: 'setvar', name, operation, value: within(equals + 1 + from, () => parseText(text.slice(from))) };
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `; ${reason}`;
}
