/** Reads a file of SecLang into directives. Faults become diagnostics; nothing that is not understood is skipped. */

import { parseActions } from './actions.ts';
import { idQuery } from './controls.ts';
import { FileDiagnostics, quoted } from './diagnostics.ts';
import { MAX_FILE_BYTES, MAX_LIST } from './limits.ts';
import type { Directive, ParsedFile, RuleActions, RuleQuery } from './model.ts';
import { NameTable } from './name-table.ts';
import { refuseName } from './names.ts';
import { parseOperator, type ReadData } from './operators.ts';
import { PartFault, within } from './part-fault.ts';
import { parseSetting, SETTING_NAMES } from './settings.ts';
import { type DirectiveText, directivesOf } from './source.ts';
import { parseTargets } from './targets.ts';
import { IGNORED_DIRECTIVES, REFUSED_DIRECTIVES } from './unsupported.ts';
import { type Word, wordsOf } from './words.ts';

export interface SecLangFile {
  /** Name in diagnostics. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A directive without its place. */
type Content = Directive extends infer Each ? (Each extends unknown ? Omit<Each, 'place'> : never) : never;

interface Context {
  readonly readData: ReadData;
  /** Reports something without effect. */
  warn(word: Word, offset: number, message: string, hint: string): void;
}

type Parse = (words: readonly Word[], context: Context) => Content;

/** Never throws for what a file holds. `readData`: the files that @pmFromFile and @ipMatchFromFile name. */
export function parseSecLang({ name, bytes }: SecLangFile, readData: ReadData): ParsedFile {
  const diagnostics = new FileDiagnostics(name);
  const directives: Directive[] = [];
  const source = sourceOf(bytes, diagnostics);
  for (const text of directivesOf(source, diagnostics)) {
    if (diagnostics.isFull) break;
    const content = parseDirective(text, readData, diagnostics);
    if (content !== undefined) directives.push({ ...content, place: { file: name, ...text.placeOf(0) } });
  }
  return { name, directives, diagnostics: diagnostics.found };
}

const START = { line: 1, column: 1 };

function sourceOf(bytes: Uint8Array, diagnostics: FileDiagnostics): string {
  if (bytes.length > MAX_FILE_BYTES) {
    diagnostics.error(START, `the file is larger than ${MAX_FILE_BYTES} bytes`, 'Split it into several files.');
    return '';
  }
  if (bytes.includes(0)) {
    diagnostics.error(START, 'the file holds bytes of zero, so that it is not text', 'Save it as UTF-8.');
    return '';
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const byteOrderMark = '\xef\xbb\xbf';
  return text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
}

function parseDirective(
  directive: DirectiveText,
  readData: ReadData,
  diagnostics: FileDiagnostics,
): Content | undefined {
  const fail = (offset: number, message: string, hint: string) =>
    diagnostics.error(directive.placeOf(offset), message, hint);
  const words = wordsOf(directive.text);
  if (!isList(words)) {
    fail(words.offset, words.message, words.hint);
    return undefined;
  }
  const context: Context = {
    readData,
    warn: (word, offset, message, hint) => diagnostics.warning(directive.placeOf(word.at(offset)), message, hint),
  };
  try {
    const [first, ...rest] = words;
    return parserOf(first!.text, first!)(rest, context);
  } catch (error) {
    if (!(error instanceof WordError)) throw error;
    fail(error.word?.at(error.fault.offset) ?? 0, error.fault.message, error.fault.hint);
    return undefined;
  }
}

function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}

/** A fault in a word; null: the directive as a whole. */
class WordError extends Error {
  readonly word: Word | null;
  readonly fault: PartFault;

  constructor(word: Word | null, fault: PartFault) {
    super(fault.message);
    this.word = word;
    this.fault = fault;
  }
}

/** Reads one word; its faults get their place. */
function read<T>(word: Word, parse: (text: string) => T): T {
  try {
    return parse(word.text);
  } catch (error) {
    if (error instanceof PartFault) throw new WordError(word, error);
    throw error;
  }
}

function failWhole(message: string, hint: string): never {
  throw new WordError(null, new PartFault(0, message, hint));
}

const PARSERS: Readonly<Record<string, Parse>> = {
  SecRule: parseRule,
  SecAction: parseAction,
  SecMarker: parseMarker,
  SecDefaultAction: parseDefaults,
  SecRuleRemoveById: (words) => ({ kind: 'remove', rules: idQueries('SecRuleRemoveById', words) }),
  SecRuleRemoveByTag: (words) => removal('SecRuleRemoveByTag', 'tag', words),
  SecRuleRemoveByMsg: (words) => removal('SecRuleRemoveByMsg', 'msg', words),
  SecRuleUpdateTargetById: parseTargetUpdateById,
  SecRuleUpdateTargetByTag: (words) => targetUpdate('SecRuleUpdateTargetByTag', 'tag', words),
  SecRuleUpdateTargetByMsg: (words) => targetUpdate('SecRuleUpdateTargetByMsg', 'msg', words),
  SecRuleUpdateActionById: parseActionUpdate,
};

const known = new NameTable<Parse>([
  ...Object.entries(PARSERS),
  ...SETTING_NAMES.map((name) => [name, settingParser(name)] as const),
  ...Object.entries(IGNORED_DIRECTIVES).map(([name, reason]) => [name, ignoredParser(name, reason)] as const),
]);
const refused = new NameTable(Object.entries(REFUSED_DIRECTIVES));

function parserOf(name: string, word: Word): Parse {
  if (name.startsWith('<'))
    failWhole(
      `the section ${quoted(name)} is not supported`,
      'Remove it: sections belong to web servers, not to rules.',
    );
  return known.get(name)?.[1] ?? read(word, () => refuseName('directive', name, 0, { known, refused }));
}

function settingParser(name: string): Parse {
  return (words) => {
    if (words.length === 0 && name !== 'SecResponseBodyMimeTypesClear')
      failWhole(`${name} has no value`, 'Write it behind the name.');
    const last = words.at(-1);
    const texts = words.map(({ text }) => text);
    const parse = () => parseSetting(name, texts);
    return { kind: 'settings', settings: last === undefined ? parse() : read(last, parse) };
  };
}

const NOTHING: Content = { kind: 'settings', settings: {} };

function ignoredParser(name: string, reason: string): Parse {
  return (words, { warn }) => {
    const [first] = words;
    if (first !== undefined) warn(first, 0, `${name} has no effect`, `Remove it: ${reason}.`);
    return NOTHING;
  };
}

function parseRule(words: readonly Word[], context: Context): Content {
  const [targetWord, operatorWord, actionWord, ...more] = words;
  if (targetWord === undefined || operatorWord === undefined)
    failWhole('SecRule needs targets and an operator', 'Write SecRule TARGETS "OPERATOR" "ACTIONS".');
  if (more.length > 0)
    failWhole('SecRule has more than three arguments', 'Put the operator and the actions in double quotes each.');
  const targets = read(targetWord, parseTargets);
  if (targets.targets.length === 0)
    failWhole('SecRule has exclusions only', 'Add the target from which to exclude, as in ARGS|!ARGS:name.');
  const operator = read(operatorWord, (text) => parseOperator(text, context.readData));
  const actions = actionWord === undefined ? NO_ACTIONS : actionsOf(actionWord, context);
  return { kind: 'rule', condition: { targets, operator }, actions };
}

const NO_ACTIONS: RuleActions = { tags: [], transformations: [], resetsTransformations: false, effects: [] };

function actionsOf(word: Word, context: Context): RuleActions {
  const { actions, ignored } = read(word, parseActions);
  for (const { offset, name, reason } of ignored)
    context.warn(word, offset, `${name} has no effect`, `Remove it: ${reason}.`);
  return actions;
}

/** The one argument of a directive. */
function only(name: string, words: readonly Word[], form: string): Word {
  const [word] = words;
  if (word === undefined || words.length > 1) failWhole(`${name} needs one argument`, `Write ${name} ${form}.`);
  return word;
}

function parseAction(words: readonly Word[], context: Context): Content {
  const actions = actionsOf(only('SecAction', words, '"ACTIONS"'), context);
  return { kind: 'rule', condition: null, actions };
}

function parseMarker(words: readonly Word[]): Content {
  return { kind: 'marker', name: only('SecMarker', words, '"NAME"').text };
}

function parseDefaults(words: readonly Word[], context: Context): Content {
  const word = only('SecDefaultAction', words, '"ACTIONS"');
  const actions = actionsOf(word, context);
  read(word, () => checkDefaults(actions));
  return { kind: 'defaults', actions };
}

const DEFAULT_KEYS = new Set(['phase', 'disruptive', 'status', 'log', 'audit']);

function checkDefaults(actions: RuleActions): void {
  if (actions.phase === undefined)
    throw new PartFault(0, 'SecDefaultAction has no phase', 'Write it, as in "phase:2,log,auditlog,deny".');
  if (actions.disruptive === undefined || actions.disruptive.kind === 'block')
    throw new PartFault(
      0,
      'SecDefaultAction does not say what happens to a request',
      'Add pass, deny, drop, allow or redirect.',
    );
  const { tags, transformations, effects, resetsTransformations, ...single } = actions;
  const other = Object.keys(single).find((key) => !DEFAULT_KEYS.has(key));
  const found = tags.length > 0 ? 'tag' : effects.length > 0 ? 'setvar or ctl' : other;
  const wrong = transformations.length > 0 || resetsTransformations ? 't' : found;
  if (wrong !== undefined)
    throw new PartFault(0, `SecDefaultAction cannot set ${wrong}`, 'Write it in the rules that need it.');
}

function idQueries(name: string, words: readonly Word[]): readonly RuleQuery[] {
  if (words.length === 0) failWhole(`${name} names no rule`, `Write ${name} 1001, or a range as 1001-1999.`);
  const queries = words.flatMap((word) => read(word, idsOf));
  if (queries.length > MAX_LIST)
    failWhole(`${name} names more than ${MAX_LIST} rules`, 'Write ranges such as 1001-1999.');
  return queries;
}

/** Ids may stand in one pair of quotes. */
function idsOf(text: string): readonly RuleQuery[] {
  const queries: RuleQuery[] = [];
  for (const { 0: id, index } of text.matchAll(/[^ \t]+/g)) queries.push(within(index, () => idQuery(id)));
  if (queries.length === 0) throw new PartFault(0, 'there is no id', 'Write one such as 1001 or 1001-1999.');
  return queries;
}

function removal(name: string, by: 'tag' | 'msg', words: readonly Word[]): Content {
  return { kind: 'remove', rules: [{ by, text: only(name, words, '"TEXT"').text }] };
}

function parseTargetUpdateById(words: readonly Word[]): Content {
  const name = 'SecRuleUpdateTargetById';
  const last = words.at(-1);
  if (last === undefined || words.length < 2)
    failWhole(`${name} needs ids and targets`, `Write ${name} 1001 "!ARGS:name".`);
  return { kind: 'updateTargets', rules: idQueries(name, words.slice(0, -1)), targets: read(last, parseTargets) };
}

function targetUpdate(name: string, by: 'tag' | 'msg', words: readonly Word[]): Content {
  const [text, targets, ...more] = words;
  if (text === undefined || targets === undefined || more.length > 0)
    failWhole(`${name} needs two arguments`, `Write ${name} "TEXT" "!ARGS:name".`);
  return { kind: 'updateTargets', rules: [{ by, text: text.text }], targets: read(targets, parseTargets) };
}

function parseActionUpdate(words: readonly Word[], context: Context): Content {
  const name = 'SecRuleUpdateActionById';
  const last = words.at(-1);
  if (last === undefined || words.length < 2) failWhole(`${name} needs ids and actions`, `Write ${name} 1001 "pass".`);
  const actions = actionsOf(last, context);
  const fixed = (['id', 'phase', 'chain'] as const).find((key) => actions[key] !== undefined);
  if (fixed !== undefined)
    failWhole(`${name} cannot change ${fixed}`, `Remove the rule by SecRuleRemoveById, and write it anew.`);
  return { kind: 'updateActions', rules: idQueries(name, words.slice(0, -1)), actions };
}
