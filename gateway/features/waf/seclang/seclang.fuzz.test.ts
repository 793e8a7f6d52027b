/** Files of strangers: a program or diagnostics, in time that grows with their length only. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutated } from '../../../../test/mutations.ts';
import { LONG, propertyRuns } from '../../../../test/property-runs.ts';
import { inTime } from '../../../../test/time-limit.ts';
import { coreFiles, readCoreData } from './crs.test-support.ts';
import { MAX_DIAGNOSTICS, MAX_FILE_BYTES } from './limits.ts';
import { parseSecLang } from './parse.ts';
import { decodeProgram, encodeProgram } from './program-format.ts';
import { type Resolution, resolveProgram } from './resolve.ts';

function resolve(bytes: Uint8Array): Resolution {
  return resolveProgram([parseSecLang({ name: 'a.conf', bytes }, readCoreData)]);
}

function check({ program, diagnostics }: Resolution, lines: number): void {
  const isRefused = diagnostics.some(({ severity }) => severity === 'error');
  expect(program === null).toBe(isRefused);
  if (program !== null) expect(decodeProgram(encodeProgram(program))).toEqual(program);
  for (const { file, line, column, message, hint } of diagnostics) {
    expect(file).toBe('a.conf');
    expect(line).toBeGreaterThan(0);
    expect(line).toBeLessThanOrEqual(lines);
    expect(column).toBeGreaterThan(0);
    expect(message).not.toBe('');
    expect(hint).not.toBe('');
  }
}

function linesIn(bytes: Uint8Array): number {
  return Buffer.from(bytes).toString('latin1').split('\n').length;
}

/** Small pieces of CRS, so that many cases fit into the time. */
const PIECES = coreFiles().flatMap(({ bytes }) => {
  const text = Buffer.from(bytes).toString('latin1');
  const rules = text.split(/\n(?=Sec)/).slice(1);
  return rules.filter((_, index) => index % 9 === 0).map((rule) => Buffer.from(rule, 'latin1'));
});

const TOKENS = [
  'SecRule ',
  'SecAction "',
  'SecMarker ',
  'SecRuleRemoveById 1-9\n',
  'SecRuleUpdateTargetById 920100 ',
  '"',
  "'",
  '\\',
  '\\\n',
  '\n',
  ',',
  ':',
  '|',
  '!',
  '&',
  '@rx ',
  '@pmFromFile ',
  '%{',
  '}',
  '(?',
  '[',
  'chain,',
  'skip:2,',
  'skipAfter:A,',
  't:none,',
  'ctl:ruleRemoveTargetById=1-999999;',
  'setvar:tx.a=+',
  '#',
  '\x00',
  '\xff',
];

describe('changed rules of CRS', () => {
  it('are a program or have diagnostics, one by one', () => {
    fc.assert(
      fc.property(mutated(PIECES, TOKENS), (bytes) =>
        check(
          inTime(() => resolve(bytes)),
          linesIn(bytes),
        ),
      ),
      propertyRuns(1000),
    );
  });

  it('are a program or have diagnostics, as whole files', () => {
    const files = coreFiles().map(({ bytes }) => bytes);
    fc.assert(
      fc.property(mutated(files, TOKENS), (bytes) =>
        check(
          inTime(() => resolve(bytes)),
          linesIn(bytes),
        ),
      ),
      propertyRuns(25),
    );
  });
});

describe('a file as large as may be', () => {
  /** A quarter of the largest size tells as much, in less time. */
  const size = LONG ? MAX_FILE_BYTES : MAX_FILE_BYTES / 4;
  const large = (text: string) => Buffer.from(text.repeat(Math.floor(size / text.length)), 'latin1');

  it.each([
    ['spaces', ' '],
    ['newlines', '\n'],
    ['backslashes', '\\'],
    ['continuation lines', '\\\n'],
    ['lines of one directive', 'a\\\n'],
    ['quotes', '"'],
    ['escaped quotes', '\\"'],
    ['comments', '#\n'],
    ['unknown directives', 'A\n'],
    ['directives that have no effect', 'SecDataDir a\n'],
    ['rules without ids', 'SecAction "pass"\n'],
    ['markers', 'SecMarker a\n'],
    ['removals', 'SecRuleRemoveByTag a\n'],
    ['a long chain', 'SecRule ARGS a "chain"\n'],
    ['wide rules', `SecRule ARGS${'|ARGS'.repeat(900)} a "id:1"\n`],
    ['long patterns', `SecRule ARGS "${'[a-z]'.repeat(20_000)}" "id:1"\n`],
    ['open groups', `SecRule ARGS "${'(?:'.repeat(40_000)}" "id:1"\n`],
    ['open classes', `SecRule ARGS "${'['.repeat(100_000)}" "id:1"\n`],
    ['macros', `SecAction "id:1,msg:'${'%{TX.0}'.repeat(15_000)}'"\n`],
    ['open macros', `SecAction "id:1,msg:'${'%{'.repeat(50_000)}'"\n`],
    ['many actions', `SecAction "id:1${',pass'.repeat(900)}"\n`],
    ['commas', `SecAction "${','.repeat(100_000)}"\n`],
    ['single quotes', `SecAction "msg:${"'".repeat(100_000)}"\n`],
    ['words', `SecRuleRemoveById ${'1 '.repeat(50_000)}\n`],
    ['words in quotes', `SecRuleRemoveById "${'1 '.repeat(50_000)}x"\n`],
    ['faults behind escaped quotes', `SecRule ARGS "${'\\"'.repeat(50_000)}(" "id:1"\n`],
  ])('takes time by its length: %s', (_, text) => {
    const bytes = large(text);
    const { diagnostics } = inTime(() => resolve(bytes), 3000);
    // Errors and warnings of the file and of the resolver.
    expect(diagnostics.length).toBeLessThanOrEqual(4 * MAX_DIAGNOSTICS);
  });
});
