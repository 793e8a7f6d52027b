/**
 * Writes what Coraza's transformations make of texts, as cases of the engine's tests: `node
 * test/waf/write-transformations.ts [ORACLE]`. A line has a text, then each transformation that changes it with the
 * result, all in hexadecimal.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TRANSFORMATIONS } from '../../gateway/features/waf/seclang/vocabulary.ts';
import { askOracle, buildOracle, type OracleRequest } from './oracle.ts';

const CASES = join(import.meta.dirname, '../../gateway/features/waf/engine/tests/transformations.txt');
/** Coraza does not have it. */
const UNKNOWN = 'sqlHexDecode';
const TEXTS = 600;

const names = TRANSFORMATIONS.filter((name) => name !== UNKNOWN);

const HAND_MADE = [
  ...['', ' ', '/', '.', './', '../', '..', '//', '/.', '/../', 'a', 'A', '%', '&', '\\', '+', '0x', '\0', '\n'],
  ...[
    '&lt;',
    '&lt',
    '&LT;',
    '&notin;',
    '&notit;',
    '&nvlt;',
    '&amp;lt;',
    '&ampx',
    '&#',
    '&#x',
    '&#60',
    '&#x3c;',
    '&#0;',
  ],
  ...[
    '&#128;',
    '&#xD800;',
    '&#1114112;',
    '&#99999999999999999999;',
    '&NewLine;',
    '&fjlig;',
    '&a',
    '&;',
    '&&lt;',
    '&nbsp',
  ],
  ...[
    '%u0041',
    '%U0041',
    '%uff1c',
    '%uFF1F',
    '%u2039',
    '%u00b4',
    '%u1234',
    '%u004',
    '%u00zz',
    '%u0000',
    '%zz',
    '%4',
    '%41',
  ],
  ...[
    '\\u0041',
    '\\u{41}',
    '\\u{0ff1c}',
    '\\u{1234567}',
    '\\uff1c',
    '\\x41',
    '\\x4',
    '\\101',
    '\\777',
    '\\400',
    '\\8',
    '\\',
  ],
  ...['\\a\\b\\f\\n\\r\\t\\v\\?\\"', '\\0', '\\41 b', '\\000041b', '\\ff1c', '\\zz', '\\\nb', '\\110000x', '\\d800 '],
  ...[
    '41',
    '414',
    '4g',
    '4G41',
    'aGVsbG8=',
    'aGVsbG8',
    'a.Gk_-w',
    'aGk aGk',
    'aGk=aGk',
    'é',
    'É',
    '\xff',
    '\xa0',
    'a\x85b',
  ],
  ...[
    'a\u2003b',
    'a\u3000b\u00a0c',
    '你',
    'à',
    '\u{1f37a}',
    '\u212a',
    'a/*b*/c',
    'a/*b',
    'a*/b',
    'a--b',
    'a#b',
    '<!--a-->b',
  ],
  ...[
    '/*a*/',
    '/*/',
    'a-->b',
    'C:\\a\\..\\b.',
    'C:',
    'a:b',
    'a\\b:c\\',
    'a. /b ',
    ' /a',
    'a/ /b',
    '/a:b/c:d',
    '..\\..\\a. ',
    '/a/./b/../c',
  ],
  ...[
    '"c^m\'d" /c',
    'a ,;b (c',
    'a\t\tb',
    '  a  ',
    '\v\fa\v',
    "x' OR 1=1 -- ",
    'abc',
    'ABC'.repeat(30),
    'a'.repeat(64),
    '%2525',
  ],
];

const FRAGMENTS = [...HAND_MADE, ...'abzAZ019 /\\.:;,*#-<>&%+=()\'"^_~\t\n\r\0'].filter((text) => text.length <= 12);

/** Numbers of a fixed sequence, so that the file is the same each time. */
function* numbers(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state >>> 8;
  }
}

function texts(): Buffer[] {
  const next = numbers();
  const pick = () => FRAGMENTS[next.next().value % FRAGMENTS.length] ?? '';
  const made = Array.from({ length: TEXTS }, () => Array.from({ length: 1 + (next.next().value % 6) }, pick).join(''));
  const all = [...HAND_MADE, ...made].map((text) => Buffer.from(text, isBytes(text) ? 'latin1' : 'utf8'));
  return [...new Map(all.map((text) => [text.toString('hex'), text])).values()];
}

/** Texts with these characters stand for bytes that are no UTF-8. */
function isBytes(text: string): boolean {
  return /[\x85\xa0\xff]/.test(text) && !/[^\0-\xff]/.test(text);
}

function requestOf(text: Buffer): OracleRequest {
  const encoded = [...text].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const request = { id: '', method: 'GET', version: 'HTTP/1.1', headers: [['Host', 'a']] as const };
  return { ...request, target: `/?x=${encoded}`, body: Buffer.alloc(0), response: null };
}

function ruleOf(name: string, index: number): string {
  return `SecRule ARGS_GET:x "@unconditionalMatch" "id:${index + 1},phase:1,pass,t:none,t:${name},t:hexEncode"\n`;
}

const folder = mkdtempSync(join(tmpdir(), 'gw-waf-'));
try {
  const rules = join(folder, 'rules.conf');
  writeFileSync(rules, names.map(ruleOf).join(''));
  const inputs = texts();
  const program = process.argv[2] ?? buildOracle();
  const verdicts = askOracle(program, ['--rules', rules, '--verbose'], inputs.map(requestOf));
  const lines = verdicts.map(({ matches = [] }, index) => {
    const input = inputs[index]?.toString('hex') ?? '';
    const results = matches.filter(({ rule }) => rule <= names.length && rule > 0);
    if (results.length !== names.length) throw new Error(`${input}: ${results.length} results`);
    const changed = results.filter(({ value }) => value !== input);
    return [`'${input}'`, ...changed.map(({ rule, value }) => `${names[rule - 1]}:${value}`)].join(' ');
  });
  writeFileSync(CASES, `${lines.join('\n')}\n`);
  console.log(`${lines.length} texts`);
} finally {
  rmSync(folder, { recursive: true });
}
