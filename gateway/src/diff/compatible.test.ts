/**
 * Artifacts without a breaking change between them are compatible: a request that the old one took the new one takes,
 * and what the new one answers the old one described (docs/reference/cli.md#diff).
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fakePlugins, MIDDLEWARE_WASM } from '../../../test/fixtures/specs/plugins.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { Operation, SchemaRef } from '../artifact/format.ts';
import { type Artifact, readArtifact } from '../artifact/read.ts';
import { compile, type ProjectPlugin } from '../compiler/index.ts';
import { StepBudget } from '../patterns/step-budget.ts';
import { Router } from '../router/router.ts';
import { get, objectOf } from '../spec/json.ts';
import { Schemas } from '../validation/schemas/schemas.ts';
import { diffArtifacts } from './artifacts.ts';
import { describedStatuses } from './described-statuses.ts';

interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: object;
}
interface Described {
  readonly parameters: readonly DescribedParameter[];
  readonly requestBody: object | undefined;
  readonly responses: object;
  readonly 'x-gw-middlewares': readonly object[];
}
interface Paths {
  readonly '/a/{x}': { readonly post: Described };
  readonly '/a/me'?: { readonly post: Described };
}

const leaf = fc.oneof(
  fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ type: fc.constant('integer'), exclusiveMinimum: fc.integer({ min: -1, max: 1 }) }),
  fc.record({ type: fc.constant('string'), maxLength: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ enum: fc.shuffledSubarray(['a', 'bb'], { minLength: 1 }) }),
  fc.record({ const: fc.constantFrom('a', 'bb') }),
  fc.record({ type: fc.constant('number'), multipleOf: fc.constantFrom(0.01, 0.02, 0.1, 0.3, 0.5) }),
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
const chain = fc.constantFrom<{ name: string }[]>([], [], [{ name: 'check' }]);
const operation: fc.Arbitrary<Described> = fc.record({
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
  'x-gw-middlewares': chain,
  'x-gw-dispatch': fc.constant({ name: 'mock' }),
});
const schemaOfPlace = fc.constantFrom({ type: 'string' }, { type: 'string', maxLength: 2 }, { const: 'other' });
/** Two routes, one of which may take the requests of the other. */
const paths: fc.Arbitrary<Paths> = fc
  .record({
    any: operation,
    own: fc.option(fc.oneof(operation, fc.constant('same' as const)), { nil: null }),
    schema: schemaOfPlace,
  })
  .map(({ any, own, schema }) => ({
    '/a/{x}': { post: { ...any, parameters: [...any.parameters, { name: 'x', in: 'path', required: true, schema }] } },
    ...(own === null ? {} : { '/a/me': { post: own === 'same' ? any : own } }),
  }));
/** A newer document is an older one with few edits, so that what each of them breaks shows by itself. */
type Edit = (before: Paths) => Paths;
const ofAny = (change: (any: Described) => Described) => (before: Paths) => {
  const { post: any } = before['/a/{x}'];
  const changed = change(any);
  const place = any.parameters.filter((each) => each.in === 'path');
  const others = changed.parameters.filter((each) => each.in !== 'path');
  return { ...before, '/a/{x}': { post: { ...changed, parameters: [...others, ...place] } } };
};
const withQuery = (parameters: readonly DescribedParameter[]) =>
  ofAny((any) => ({ ...any, parameters: [...parameters] }));
const query = fc.record({ name: fc.constant('q'), in: fc.constant('query'), required: fc.boolean(), schema: leaf });
const edit: fc.Arbitrary<Edit> = fc.oneof(
  query.map((each): Edit => withQuery([each])),
  fc.constant<Edit>(withQuery([])),
  fc.constantFrom(0.01, 0.02, 0.1, 0.3, 0.5).map((multipleOf): Edit => {
    return withQuery([{ name: 'q', in: 'query', required: false, schema: { type: 'number', multipleOf } }]);
  }),
  operation.map((each): Edit => ofAny((any) => ({ ...any, requestBody: each.requestBody }))),
  operation.map((each): Edit => ofAny((any) => ({ ...any, responses: each.responses }))),
  chain.map((middlewares): Edit => ofAny((any) => ({ ...any, 'x-gw-middlewares': middlewares }))),
  schemaOfPlace.map(
    (schema): Edit =>
      ({ '/a/{x}': { post: any }, ...others }) => {
        const parameters = any.parameters.map((each) => (each.in === 'path' ? { ...each, schema } : each));
        return { ...others, '/a/{x}': { post: { ...any, parameters } } };
      },
  ),
  fc.constant<Edit>(({ '/a/{x}': any }) => ({ '/a/{x}': any })),
  fc.constant<Edit>((before) => {
    const { parameters, ...any } = before['/a/{x}'].post;
    return { ...before, '/a/me': { post: { ...any, parameters: parameters.filter((each) => each.in !== 'path') } } };
  }),
  operation.map(
    (post): Edit =>
      (before) => ({ ...before, '/a/me': { post } }),
  ),
);
const value = fc.constantFrom<unknown>('a', 'bb', 'cccc', -1, 0, 1, 2, 1.5, 0.3, 0.07, 0.29);
const object = fc.dictionary(fc.constantFrom('p', 'r'), value, { maxKeys: 2 });
const request = fc.record({
  path: fc.constantFrom('/a/me', '/a/other'),
  query: fc.option(value, { nil: undefined }),
  body: fc.option(object, { nil: undefined }),
});
const sample = fc.record({ request, status: fc.constantFrom('200', '201'), answer: object });

/** One of a project's own, of which nothing is known. */
const check: ProjectPlugin = {
  name: 'check',
  wasm: MIDDLEWARE_WASM,
  manifest: {
    ...{ name: 'check', version: '1.0.0', type: 'middleware' },
    ...{ host_functions: [], request_body: 'none', response_body: 'none' },
  },
};
const isChecked = ({ middlewares }: Operation) => middlewares.some(({ name }) => name === check.name);

async function artifactOf(of: object): Promise<Artifact> {
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: of };
  const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const result = await compile({ specs: ['a.json'], files, plugins: [...fakePlugins, check], flags: {} });
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

  /** Names no property that is not declared, whose meaning a later document may define. */
  knows({ request_body: declared }: Operation, sent: object | undefined): boolean {
    if (sent === undefined) return true;
    const schema = this.#table[declared?.content['application/json']?.schema?.$ref.slice('gw:'.length) ?? ''];
    const known = Object.keys(objectOf(get(schema, 'properties')));
    return Object.keys(sent).every((name) => known.includes(name));
  }

  takes({ parameters, request_body: declared }: Operation, path: string, query: unknown, sent: unknown): boolean {
    const place = parameters.find((each) => each.in === 'path');
    if (!this.#fits(place?.schema, path.slice('/a/'.length))) return false;
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
      fc.array(edit, { minLength: 1, maxLength: 2 }),
      fc.array(sample, { minLength: 40, maxLength: 60 }),
      async (before, edits, samples) => {
        const after = edits.reduce((document, change) => change(document), before);
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
          if (from === null || !was.knows(from, asked.body)) continue;
          if (!was.takes(from, asked.path, asked.query, asked.body)) continue;
          const shown = JSON.stringify({ before, after, asked, status, answered });
          expect(to !== null && is.takes(to, asked.path, asked.query, asked.body), shown).toBe(true);
          expect(to !== null && isChecked(to), shown).toBe(isChecked(from));
          if (to !== null && is.describes(to, status, answered)) {
            expect(was.describes(from, status, answered), shown).toBe(true);
          }
        }
      },
    ),
    propertyRuns(200),
  );
  expect(compatible).toBeGreaterThan(30);
});
