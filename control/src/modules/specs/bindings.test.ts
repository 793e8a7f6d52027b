/** Where bindings belong in another document (docs/reference/control-plane.md#kept-bindings). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { type Binding, placeBindings, placeOf } from './bindings.ts';
import { applyBindings, openDocument } from './bound-document.ts';

const PATHS = ['/a', '/b', '/c', '/d'] as const;
const IDS = ['one', 'two', 'three', 'four'] as const;

type Operations = readonly { readonly path: string; readonly id: string | null }[];

const operations = fc
  .tuple(fc.shuffledSubarray([...PATHS]), fc.shuffledSubarray([...IDS]), fc.array(fc.boolean(), { minLength: 4 }))
  .map(
    ([paths, ids, named]): Operations =>
      paths.map((path, i) => ({ path, id: named[i] === true ? (ids[i] ?? null) : null })),
  );

const textOf = (list: Operations) => {
  const paths = list.map(({ path, id }) => [path, { get: id === null ? { summary: 'x' } : { operationId: id } }]);
  return JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: Object.fromEntries(paths) });
};

const bindingsOf = (list: Operations): readonly Binding[] =>
  list.map(({ path, id }) => ({
    id: crypto.randomUUID(),
    operation_id: id,
    method: 'GET',
    path,
    chain: { middlewares: [{ name: 'acl', config: { allow: [`${id} ${path}`] } }] },
    isDormant: false,
  }));

const open = (list: Operations) => openDocument('document', 'x.json', Buffer.from(textOf(list)));

describe('bindings of a document in the next one', () => {
  it('are applied where operationId and path fit, changed where one does, and lost where none does', async () => {
    await fc.assert(
      fc.asyncProperty(operations, operations, async (before, after) => {
        const document = await open(after);
        const placed = placeBindings(bindingsOf(before), document.operations);
        for (const { binding, operation, state } of placed) {
          const isThere = after.some(({ path, id }) => path === binding.path && id === binding.operation_id);
          expect(state === 'applied').toBe(isThere);
          const fits = [operation?.path === binding.path, operation?.operationId === binding.operation_id];
          if (state === 'changed') expect(fits.filter(Boolean)).toHaveLength(1);
          if (state === 'lost') {
            // Whatever fits it in part is taken by one that fits no worse.
            const others = placed.filter((each) => each.binding !== binding && each.operation !== null);
            const partly = after.filter(
              ({ path, id }) => path === binding.path || (id !== null && id === binding.operation_id),
            );
            for (const { path } of partly) expect(others.map((each) => each.operation?.path)).toContain(path);
          }
        }
        const taken = placed.flatMap(({ operation }) => (operation ? [placeOf(operation)] : []));
        expect(new Set(taken).size).toBe(taken.length);
      }),
      propertyRuns(200),
    );
  });

  it('are what the operation has, for each that is not lost', async () => {
    await fc.assert(
      fc.asyncProperty(operations, operations, async (before, after) => {
        const { bytes, outcomes } = await applyBindings(await open(after), bindingsOf(before));
        const written = await openDocument('document', 'x.json', bytes);
        for (const { binding, state } of outcomes) {
          const found = written.operations.find(({ path }) => path === binding.path);
          const has = JSON.stringify(found?.middlewares) === JSON.stringify(binding.chain.middlewares);
          expect(has).toBe(state !== 'lost');
        }
        const again = await applyBindings(
          written,
          outcomes.map(({ binding }) => binding),
        );
        expect(again.bytes).toBe(written.bytes);
      }),
      propertyRuns(100),
    );
  });
});

const YAML = `openapi: 3.1.0
info: { title: x, version: "1" }
x-shared: &chain [{ name: cors }]
paths:
  /a: { get: &get { operationId: one, x-gw-middlewares: *chain } }
  /b: { get: { operationId: two, x-gw-dispatch: { name: mock } } }
`;

describe('a document that cannot be edited everywhere', () => {
  it('has the bindings that can be written, and says why the others are lost', async () => {
    const text = YAML.replace('*chain', '&own [{ name: cors }]').concat(
      '  /c: { get: { operationId: three, x-gw-middlewares: *own } }\n',
    );
    const document = await openDocument('document', 'x.yaml', Buffer.from(text));
    const list = [
      { path: '/a', id: 'one' },
      { path: '/b', id: 'two' },
    ];
    const { bytes, outcomes } = await applyBindings(document, bindingsOf(list));
    expect(outcomes.map(({ state, reason }) => [state, reason])).toEqual([
      ['lost', expect.stringContaining('anchor')],
      ['applied', ''],
    ]);
    expect(Buffer.from(bytes).toString()).toContain('null /b'.slice(5));
  });
});
