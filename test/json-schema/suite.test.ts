import { afterAll, describe, expect, it } from 'vitest';
import { type Draft, isOutside30, remotesOf, suiteOf, validatorOf } from './suite.ts';

/** Tests that do not hold, by how `keyword: group: test` begins, and why they need not. One that does hold fails. */
const EXCEPTIONS: readonly (readonly [draft: Draft, test: RegExp, why: string])[] = [
  ['draft4', /^refRemote: Location-independent identifier in remote ref: /, 'OpenAPI 3.0 has no `id`'],
  ['draft4', /^optional\/format\/hostname: .*consecutive hyphens/, 'RFC 5890 reserves the third and fourth place'],
  ['draft4', /^optional\/zeroTerminatedFloats: /, 'an integer may have a fraction of zeros, as in all later drafts'],
  ['draft7', /^optional\/format\/ecmascript-regex: \\a /, 'RE2 has it'],
  ['draft7', /^optional\/content: /, 'content is an annotation'],
  ['draft7', /^optional\/cross-draft: /, 'a document has one dialect'],
  ['draft7', /^optional\/unknownKeyword: /, 'any $id in a file is an identifier'],
  ['draft7', /^ref: \$ref prevents/, 'files are read alike in all dialects: $id beside $ref counts since 2019-09'],
  ['draft2020-12', /^format: .* is only an annotation by default$/, 'formats are enforced'],
  ['draft2020-12', /^optional\/format\/ecmascript-regex: \\a /, 'RE2 has it'],
  ['draft2020-12', /^optional\/cross-draft: /, 'a document has one dialect'],
  ['draft2020-12', /^optional\/unknownKeyword: /, 'any $id in a file is an identifier'],
  ['draft2020-12', /^optional\/format-assertion: /, 'a vocabulary without validation makes annotations of formats'],
];

/** Of a whole group of optional tests, of which some hold. */
const isPartial = ([, which]: (typeof EXCEPTIONS)[number]) => !which.source.startsWith('^format');

for (const draft of ['draft4', 'draft7', 'draft2020-12'] as const) {
  describe(`JSON-Schema-Test-Suite, tests of ${draft}`, () => {
    const remotes = remotesOf(draft);
    const figures: { readonly keyword: string; readonly passed: number; excepted: number; outside: number }[] = [];
    afterAll(() => {
      const sum = (name: 'passed' | 'excepted' | 'outside') => figures.reduce((all, each) => all + each[name], 0);
      const rows = figures.map((each) => `${each.keyword} ${each.passed}/${each.excepted}/${each.outside}`);
      process.stdout.write(
        `${draft}, passed/excepted/not in OpenAPI 3.0: ${sum('passed')}/${sum('excepted')}/${sum('outside')}\n  ${rows.join(', ')}\n`,
      );
    });

    it.each([...suiteOf(draft)])('%s', async (keyword, groups) => {
      const count = { keyword, passed: 0, excepted: 0, outside: 0 };
      const wrong: string[] = [];
      for (const { description, schema, tests } of groups) {
        if (draft === 'draft4' && isOutside30(schema)) {
          count.outside += tests.length;
          continue;
        }
        const verdict = await verdictOf(schema, draft);
        for (const test of tests) {
          const name = `${keyword}: ${description}: ${test.description}`;
          const exception = EXCEPTIONS.find(([where, which]) => where === draft && which.test(name));
          const found = verdict(test.data);
          if (found === test.valid && exception && !isPartial(exception))
            wrong.push(`${name}: holds, and is listed as an exception`);
          else if (found === test.valid) count.passed++;
          else if (exception) count.excepted++;
          else wrong.push(`${name}: ${found}`);
        }
      }
      figures.push(count);
      expect(wrong).toEqual([]);
    });

    async function verdictOf(schema: unknown, draft: Draft): Promise<(data: unknown) => boolean | string> {
      try {
        const holds = await validatorOf(schema, draft, remotes);
        return (data) => {
          try {
            return holds(data);
          } catch (error) {
            return String(error);
          }
        };
      } catch (error) {
        return () => String(error);
      }
    }
  });
}
