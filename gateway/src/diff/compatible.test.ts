/**
 * Artifacts without a breaking change between them are compatible: a request that the old one took the new one takes,
 * and what the new one answers the old one described (docs/reference/cli.md#diff).
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { Operation, SchemaRef } from '../artifact/format.ts';
import { type Artifact, readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { StepBudget } from '../patterns/step-budget.ts';
import { Router } from '../router/router.ts';
import { get, objectOf } from '../spec/json.ts';
import { Schemas } from '../validation/schemas.ts';
import { diffArtifacts } from './artifacts.ts';
import { describedStatuses } from './described-statuses.ts';

const leaf = fc.oneof(
  fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ type: fc.constant('integer'), exclusiveMinimum: fc.integer({ min: -1, max: 1 }) }),
  fc.record({ type: fc.constant('string'), maxLength: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ enum: fc.shuffledSubarray(['a', 'bb'], { minLength: 1 }) }),
  fc.record({ const: fc.constantFrom('a', 'bb') }),
);
const body = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(fc.constantFrom('p', 'r'), leaf, { maxKeys: 2 }),
  required: fc.shuffledSubarray(['p', 'r']),
});
const answer = fc.record({
  description: fc.constant('x'),
  content: fc.record({ 'application/json': fc.record({ schema: body }) }),
});
const operation = fc.record({
  parameters: fc.option(
    fc.tuple(fc.record({ name: fc.constant('q'), in: fc.constant('query'), required: fc.boolean(), schema: leaf })),
    { nil: [] },
  ),
  requestBody: fc.option(
    fc.record({ required: fc.boolean(), content: fc.record({ 'application/json': fc.record({ schema: body }) }) }),
    { nil: undefined },
  ),
  responses: fc.dictionary(fc.constantFrom('200', '201', '404'), answer, { minKeys: 1, maxKeys: 2 }),
  'x-gw-validate-response': fc.constant('enforce'),
  'x-gw-dispatch': fc.constant({ name: 'mock' }),
});
const place = { name: 'x', in: 'path', required: true, schema: { type: 'string' } };
/** Two routes, one of which may take the requests of the other. */
const paths = fc.record({ any: operation, own: fc.option(operation, { nil: null }) }).map(({ any, own }) => ({
  '/a/{x}': { post: { ...any, parameters: [...any.parameters, place] } },
  ...(own === null ? {} : { '/a/me': { post: own } }),
}));
const value = fc.constantFrom<unknown>('a', 'bb', 'cccc', -1, 0, 1, 2, 1.5);
const object = fc.dictionary(fc.constantFrom('p', 'r'), value, { maxKeys: 2 });
const request = fc.record({
  path: fc.constantFrom('/a/me', '/a/other'),
  query: fc.option(value, { nil: undefined }),
  body: fc.option(object, { nil: undefined }),
});
const sample = fc.record({ request, status: fc.constantFrom('200', '201'), answer: object });

async function artifactOf(of: object): Promise<Artifact> {
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: of };
  const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const result = await compile({ specs: ['a.json'], files, plugins: fakePlugins, flags: {} });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return readArtifact(result.artifact);
}

/** What an artifact takes, and what it says that it answers. */
class Rules {
  readonly #router = new Router<Operation>();
  readonly #schemas: Schemas;
  readonly #table: Artifact['routes']['schemas'];

  constructor({ routes }: Artifact) {
    this.#table = routes.schemas;
    this.#schemas = new Schemas(routes.schemas, false, new StepBudget(1_000_000));
    for (const each of routes.operations) this.#router.add(each.method, each.path, each);
  }

  find(path: string): Operation | null {
    return this.#router.find('POST', path).value;
  }

  /** Names nothing that is not declared, whose meaning a later document may define. */
  knows({ parameters, request_body: declared }: Operation, query: unknown, sent: object | undefined): boolean {
    if (query !== undefined && !parameters.some(({ name }) => name === 'q')) return false;
    if (sent === undefined) return true;
    const schema = this.#table[declared?.content['application/json']?.schema?.$ref.slice('gw:'.length) ?? ''];
    const known = Object.keys(objectOf(get(schema, 'properties')));
    return Object.keys(sent).every((name) => known.includes(name));
  }

  takes({ parameters, request_body: declared }: Operation, query: unknown, sent: unknown): boolean {
    const asked = parameters.find(({ name }) => name === 'q');
    const takesQuery = query === undefined ? asked?.required !== true : this.#fits(asked?.schema, query);
    const takesBody =
      sent === undefined
        ? declared?.required !== true
        : this.#fits(declared?.content['application/json']?.schema, sent);
    return takesQuery && takesBody;
  }

  describes({ responses }: Operation, status: string, answered: unknown): boolean {
    const content = responses?.[status];
    return content !== undefined && this.#fits(content['application/json']?.schema, answered);
  }

  #fits(schema: SchemaRef | undefined, given: unknown): boolean {
    return schema === undefined || this.#schemas.validator(schema)(given) === null;
  }
}

it('takes what was taken, and answers what was described, where no change is said to break', async () => {
  let compatible = 0;
  await fc.assert(
    fc.asyncProperty(
      paths,
      paths,
      fc.boolean(),
      fc.array(sample, { minLength: 20, maxLength: 40 }),
      async (before, other, same, samples) => {
        // Half of the pairs differ in the second route alone, so that many are compatible.
        const after = same ? { ...before, ...('/a/me' in other ? { '/a/me': other['/a/me'] } : {}) } : other;
        const [old, now] = [await artifactOf(before), await artifactOf(after)];
        const changes = diffArtifacts(
          { ...old, statuses: await describedStatuses(old) },
          { ...now, statuses: await describedStatuses(now) },
        );
        if (changes.some(({ breaking }) => breaking)) return;
        compatible++;
        const [was, is] = [new Rules(old), new Rules(now)];
        for (const { request: asked, status, answer: answered } of samples) {
          const [from, to] = [was.find(asked.path), is.find(asked.path)];
          if (from === null || !was.knows(from, asked.query, asked.body)) continue;
          if (!was.takes(from, asked.query, asked.body)) continue;
          const shown = JSON.stringify({ before, after, asked, status, answered });
          expect(to !== null && is.takes(to, asked.query, asked.body), shown).toBe(true);
          if (to !== null && is.describes(to, status, answered)) {
            expect(was.describes(from, status, answered), shown).toBe(true);
          }
        }
      },
    ),
    propertyRuns(120),
  );
  expect(compatible).toBeGreaterThan(3);
});
