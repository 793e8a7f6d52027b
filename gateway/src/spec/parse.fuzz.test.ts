/** The reader of documents, and what stands behind it, on bytes that nobody would write. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mutated } from '../../../test/mutations.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { compile } from '../compiler/index.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { parseText } from './parse.ts';
import { positions } from './position.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const yamlIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(root, folder, name)));
const small = `openapi: 3.1.0
info: &info { title: A, version: "1" }
x-a: { <<: *info, b: [1, .5, 0x1f, ~, "\\u00e9"] }
paths:
  /a/{id}:
    get: { responses: { 200: { description: | } } }
`;
const documents = [...yamlIn('test/fixtures/specs/bookstore'), ...yamlIn('test/fixtures/specs/errors')];
const json = Buffer.from(JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': {} } }));
const tokens = [
  '&a ',
  '*a',
  '<<: *a',
  '- ',
  '\n',
  '\t',
  '  ',
  ': ',
  '{',
  '}',
  '[',
  ']',
  '|',
  '>',
  '"',
  "'",
  '!!',
  '%',
  '---\n',
];

const bytes = fc.oneof(
  { weight: 4, arbitrary: mutated([Buffer.from(small), json], tokens) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((each) => Buffer.from(each)) },
);

it('reads or refuses any bytes: no other error, no wait, nothing that is not JSON', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      const parsed = inTime(() => parseText(given));
      if (!parsed.ok) {
        expect(parsed.message).not.toBe('');
        if (parsed.position) expect(Math.min(parsed.position.line, parsed.position.column)).toBeGreaterThan(0);
      } else if (JSON.stringify(parsed.value) === undefined) throw new Error('not a value of JSON');
    }),
    propertyRuns(7000),
  );
});

it('finds positions in any text that it reads', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      const parsed = parseText(given);
      if (!parsed.ok) return;
      const found = inTime(() => positions(parsed.text, ['', '/info/title', '/paths/~1a~1{id}/get']));
      for (const { line, column } of found.values()) if (line < 1 || column < 1) throw new Error('no such place');
    }),
    propertyRuns(2500),
  );
});

it('compiles or refuses any specification that is nearly right', async () => {
  const plugins = ['mock', 'http-upstream', 'cors', 'rate-limit'].map((name) => loadBuiltinPlugin(name));
  const keywords = [
    '$ref: ',
    '"#/"',
    '$id: a',
    '$dynamicRef: "#a"',
    '$dynamicAnchor: a',
    'allOf: ',
    'null',
    '1e400',
    ...tokens,
  ];
  await fc.assert(
    fc.asyncProperty(mutated(documents, keywords), async (given) => {
      const files = [{ name: 'api.yaml', bytes: given }];
      const result = await compile({ specs: ['api.yaml'], files, plugins, flags: { sourceDateEpoch: 0 } });
      if (!result.ok) expect(result.diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
    }),
    propertyRuns(500),
  );
});
