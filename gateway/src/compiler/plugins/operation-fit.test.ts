/** What a plugin names of its operation, and whether it is there. */
import { describe, expect, it } from 'vitest';
import { DISPATCHER_WASM } from '../../../../test/fixtures/specs/plugins.ts';
import type { Json } from '../../artifact/format.ts';
import { compile } from '../index.ts';

const properties = {
  template: { type: 'string', 'x-gw-path-params': 'template' },
  name: { type: 'string', 'x-gw-path-params': { kind: 'name', unless: '/fixed' } },
  fixed: { type: 'string' },
  chosen: { type: 'string', 'x-gw-member-of': '/named' },
  named: { type: 'object' },
  expression: { type: 'string', 'x-gw-path-params': 'expression' },
};

async function faults(config: Record<string, Json>, more: Record<string, Json> = {}): Promise<readonly string[]> {
  const document = {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: {
      '/files/{id}/{rest+}': {
        get: {
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'rest', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } },
          ],
          'x-gw-dispatch': { name: 'finder', config },
        },
      },
    },
  };
  const { diagnostics } = await compile({
    specs: ['a.json'],
    files: [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }],
    flags: {},
    plugins: [
      {
        name: 'finder',
        wasm: DISPATCHER_WASM,
        manifest: {
          name: 'finder',
          version: '1.0.0',
          type: 'dispatcher',
          host_functions: [],
          request_body: 'none',
          response_body: 'none',
        },
        configSchema: { type: 'object', properties, ...more },
      },
    ],
  });
  return diagnostics.map(({ code, pointer, message }) => `${code} ${pointer?.split('/').at(-1)}: ${message}`);
}

const missing = (property: string, name: string) => [
  `E1030 ${property}: plugin "finder": "${property}" names path parameter "${name}", which /files/{id}/{rest+} does not have`,
];

describe('path parameters that a config names', () => {
  it.each<readonly [Record<string, Json>, readonly string[]]>([
    [{ template: '/{id}/x{rest}?a={id}' }, []],
    [{ template: '/{rest+}' }, []],
    [{ template: '/{id}/{nope}/{nope}' }, missing('template', 'nope')],
    [{ template: '/plain' }, []],
    [{ template: 'env://TEMPLATE' }, []],
    [{ name: 'id' }, []],
    [{ name: 'rest+' }, []],
    [{ name: 'bucket' }, missing('name', 'bucket')],
    [{ name: 'bucket', fixed: 'a' }, []],
    [{ expression: '$request.path.id' }, []],
    [{ expression: '$request.path.nope' }, missing('expression', 'nope')],
    [{ expression: '{nope}' }, []],
    [{ expression: '$request.header.nope' }, []],
  ])('%j', async (config, expected) => {
    expect(await faults(config)).toEqual(expected);
  });
});

it('serves the methods of its schema, and any where it names none', async () => {
  expect(await faults({}, { 'x-gw-methods': ['POST'] })).toEqual([
    'E1034 x-gw-dispatch: "finder" serves POST, not GET /files/{id}/{rest+}',
  ]);
  expect(await faults({}, { 'x-gw-methods': ['GET', 'HEAD'] })).toEqual([]);
});

describe('the name of a member that a config chooses', () => {
  it.each<readonly [Record<string, Json>, boolean]>([
    [{ chosen: 'a', named: { a: 1 } }, true],
    [{ chosen: 'env://NAME', named: { a: 1 } }, true],
    [{ named: {} }, true],
    [{ chosen: 'b', named: { a: 1 } }, false],
    [{ chosen: 'toString', named: { a: 1 } }, false],
    [{ chosen: 'a' }, false],
  ])('is one that is there: %j', async (config, fits) => {
    const message = `plugin "finder": "chosen" is ${JSON.stringify(config['chosen'])}, which is not a name in "named"`;
    expect(await faults(config)).toEqual(fits ? [] : [`E1030 chosen: ${message}`]);
  });
});
