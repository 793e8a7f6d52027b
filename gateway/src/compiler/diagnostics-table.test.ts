/**
 * Every code with what a newcomer reads: message, place and hint, in one golden table. `npm test -- FILE --update=all`
 * writes it again; read the difference as somebody who has made the mistake.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { diagnosticHead } from '../spec/diagnostic-line.ts';
import { ERROR_CODES, type ErrorCode } from '../spec/error-codes.ts';
import { compile, type Diagnostic } from './index.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'specs', 'errors');
const shown: readonly Diagnostic[] = (
  await Promise.all(
    readdirSync(folder)
      .toSorted()
      .map(async (file) => {
        const files = [{ name: file, bytes: readFileSync(join(folder, file)) }];
        return (await compile({ specs: [file], files, plugins: fakePlugins, flags: {} })).diagnostics;
      }),
  )
).flat();
const titled = shown.map((each): [string, Diagnostic] => [diagnosticHead(each), each]);
/** Openings of an instruction. */
const IMPERATIVE =
  /^(?:Add|Begin|Build|Check|Choose|Close|Compare|Convert|Copy|Correct|Declare|Did you mean|Do not|Download|Give|Indent|Let|Move|Name|Refer|Remove|Rename|Send|Use|Write)\b/;

describe('each diagnostic', () => {
  it('stands in the table as it is', async () => {
    const table = shown.map((each) => `${diagnosticHead(each)}\n  hint: ${each.hint}\n`).join('');
    await expect(table).toMatchFileSnapshot('diagnostics-table.golden.txt');
  });

  it.each(titled)('%s: has a place in the document', (head) => {
    expect(head).toMatch(/^E\d{4}[\w.-]*\.yaml:\d+:\d+: (?:error|warning) E\d{4} \S/);
  });

  it.each(titled)('%s: says what to do, in a sentence', (_, { code, hint }) => {
    expect(hint).toMatch(IMPERATIVE);
    expect(hint).toMatch(/[.?]$/);
    const { hasOwnHints, hint: general }: ErrorCode = ERROR_CODES[code];
    if (hasOwnHints) expect(hint).not.toBe(general);
  });

  it.each(titled)('%s: says what is wrong, in plain words', (_, { message }) => {
    expect(message).not.toMatch(/\b(?:is none|none is|where it|what is|must have required)\b|[.\n]$/);
    expect(message).not.toMatch(/must be (?:a|an) ([a-z ]+?)(?: [a-z ]*)?, but is \1/);
  });

  it('is said once', () => {
    const heads = titled.map(([head]) => head);
    expect(heads).toEqual([...new Set(heads)]);
  });
});
