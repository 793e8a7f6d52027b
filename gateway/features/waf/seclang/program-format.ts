/** The form of a program in an artifact. */

import {
  boolean,
  type Codec,
  CodecError,
  decode,
  encode,
  type Format,
  list,
  nullable,
  number,
  oneOf,
  pair,
  partial,
  record,
  string,
  unicode,
  variants,
} from './codec.ts';
import type {
  Disruptive,
  Exclusion,
  MacroPart,
  Operator,
  OperatorArgument,
  Phase,
  Selector,
  Settings,
  Target,
  Text,
} from './model.ts';
import type { Link, Program, ProgramEffect, ProgramRule } from './program.ts';
import {
  OPERATORS,
  type OperatorName,
  SWITCHES,
  type Switch,
  TRANSFORMATIONS,
  VARIABLES,
  type VariableName,
} from './vocabulary.ts';

/** Raise it with any change of the codecs below, or of the order of names in `vocabulary.ts`. */
const VERSION = 1;

function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(table) as Name[];
}

const variable: Codec<VariableName> = oneOf(namesOf(VARIABLES));
const nothing = record<Record<never, never>>({});

const macro = record<MacroPart>({ variable, key: nullable(string) });
/** 0 and a string, or 1 and a macro. */
const text: Codec<Text> = list({
  write: (out, part) => {
    boolean.write(out, typeof part !== 'string');
    if (typeof part === 'string') string.write(out, part);
    else macro.write(out, part);
  },
  read: (input) => (boolean.read(input) ? macro.read(input) : string.read(input)),
});

const selector = nullable(variants<Selector>({ name: record({ name: string }), pattern: record({ pattern: string }) }));
const target = record<Target>({ variable, selector, count: boolean });
const exclusion = record<Exclusion>({ variable, selector });
const ranges = list(pair(number, number));

const operator = record<Operator>({
  name: oneOf<OperatorName>(namesOf(OPERATORS)),
  negated: boolean,
  argument: variants<OperatorArgument>({
    none: nothing,
    pattern: record({ pattern: string }),
    text: record({ text }),
    phrases: record({ phrases: list(string) }),
    bytes: record({ ranges }),
    networks: record({ networks: list(string) }),
  }),
});

const effect = variants<ProgramEffect>({
  setvar: record({
    name: text,
    operation: oneOf(['set', 'add', 'subtract', 'unset'] as const),
    value: text,
  }),
  switch: record({ name: oneOf<Switch>(namesOf(SWITCHES)), value: string }),
  removeRules: record({ rules: ranges }),
  removeTarget: record({ rules: ranges, target: exclusion }),
});

const link = record<Link>({
  line: number,
  targets: list(target),
  exclusions: list(exclusion),
  operator: nullable(operator),
  transformations: list(oneOf(TRANSFORMATIONS)),
  multiMatch: boolean,
  capture: boolean,
  msg: nullable(text),
  logdata: nullable(text),
  effects: list(effect),
});

const disruptive = variants<Disruptive>({
  pass: nothing,
  block: nothing,
  deny: nothing,
  drop: nothing,
  allow: nothing,
  allowPhase: nothing,
  allowRequest: nothing,
  redirect: record({ location: text }),
});

const rule = record<ProgramRule>({
  id: number,
  phase: oneOf<Phase>([1, 2, 3, 4, 5]),
  file: number,
  links: list(link),
  disruptive,
  status: number,
  log: boolean,
  audit: boolean,
  severity: nullable(number),
  ver: nullable(string),
  rev: nullable(string),
  tags: list(string),
  jump: nullable(number),
});

const settings = partial<Settings>({
  ruleEngine: oneOf(['On', 'Off', 'DetectionOnly'] as const),
  auditEngine: oneOf(['On', 'Off', 'RelevantOnly'] as const),
  auditRelevantStatus: string,
  requestBodyAccess: boolean,
  requestBodyLimit: number,
  requestBodyNoFilesLimit: number,
  requestBodyLimitAction: oneOf(['Reject', 'ProcessPartial'] as const),
  requestBodyJsonDepthLimit: number,
  argumentsLimit: number,
  responseBodyAccess: boolean,
  responseBodyLimit: number,
  responseBodyLimitAction: oneOf(['Reject', 'ProcessPartial'] as const),
  responseBodyMimeTypes: list(string),
  componentSignatures: list(string),
});

const FORMAT: Format<Program> = {
  magic: 'gw-waf\n',
  version: VERSION,
  codec: record<Program>({ files: list(unicode), settings, rules: list(rule) }),
};

/** The same program has the same bytes. */
export function encodeProgram(program: Program): Uint8Array {
  return encode(FORMAT, program);
}

/** Throws CodecError if the bytes are no program, or point past its rules or files. */
export function decodeProgram(bytes: Uint8Array): Program {
  const program = decode(FORMAT, bytes);
  for (const [index, each] of program.rules.entries()) checkRule(each, index, program);
  return program;
}

function checkRule({ file, links, jump }: ProgramRule, index: number, { files, rules }: Program): void {
  if (file >= files.length) throw new CodecError(`rule ${index} names a file that there is not`);
  if (links.length === 0) throw new CodecError(`rule ${index} has no condition`);
  if (jump !== null && (jump <= index || jump > rules.length))
    throw new CodecError(`rule ${index} jumps back, or too far`);
  for (const { effects } of links)
    for (const each of effects) {
      const selected = each.kind === 'removeRules' || each.kind === 'removeTarget' ? each.rules : [];
      if (selected.some(([from, to]) => from > to || to >= rules.length))
        throw new CodecError(`rule ${index} removes rules that there are not`);
    }
}
