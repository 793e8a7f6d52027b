/**
 * Measures validating a request, in microseconds: `node gateway/src/validation/request.bench.ts`. Compiled from a
 * specification as `gw serve` has it; each figure is the best of several rounds.
 */

import { validateNow } from '../../../test/validate-now.ts';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { BodyValidator } from './body.ts';
import { ParameterValidator } from './parameters.ts';
import { Schemas } from './schemas/schemas.ts';

const ROUNDS = 200;

const item = {
  type: 'object',
  required: ['id', 'title'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', minimum: 1 },
    title: { type: 'string', minLength: 1, maxLength: 200 },
    kind: { enum: ['book', 'map'] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 10 },
    price: { type: 'number' },
  },
};
const document = {
  openapi: '3.1.0',
  info: { title: 'Bench', version: '1' },
  paths: {
    '/shops/{shop}/items': {
      post: {
        parameters: [
          { name: 'shop', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } },
          { name: 'sort', in: 'query', schema: { enum: ['title', 'price'] } },
          { name: 'x-tenant', in: 'header', required: true, schema: { type: 'string', maxLength: 32 } },
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { anyOf: [item, { type: 'array', items: item }] } } },
        },
        responses: {},
        'x-gw-dispatch': { name: 'mock' },
      },
    },
  },
};

const files = [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }];
const compiled = await compile({ specs: ['api.json'], files, plugins: [loadBuiltinPlugin('mock')], flags: {} });
if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
const { routes } = await readArtifact(compiled.artifact);
const operation = routes.operations[0];
if (!operation?.request_body) throw new Error('the operation has no body');
const schemas = new Schemas(routes.schemas, false);
const parameters = new ParameterValidator(operation.parameters, operation.path, schemas);
const body = new BodyValidator(operation.request_body, schemas);

const one = { id: 4711, title: 'A map of the world', kind: 'map', tags: ['old', 'paper'], price: 12.5 };
const bodyOf = (bytes: number) => {
  const count = Math.ceil(bytes / JSON.stringify(one).length);
  return Buffer.from(JSON.stringify(count === 1 ? one : Array.from({ length: count }, () => one)));
};

function measure(label: string, calls: number, run: () => unknown): void {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    for (let i = 0; i < calls; i++) if (run() !== null) throw new Error(`${label} is not valid`);
    best = Math.min(best, ((performance.now() - started) * 1000) / calls);
  }
  process.stdout.write(`${label.padEnd(36)} ${best.toFixed(2).padStart(8)} µs\n`);
}

const small = bodyOf(1);
const headers = { 'x-tenant': 'acme', accept: '*/*', host: 'a.example' };
const exchange = recordedExchange({ path: '/shops/12/items?limit=10&sort=title', headers });
const checkParameters = () => parameters.validate(exchange, ['12'], false);
const checkBody = (bytes: Uint8Array) => validateNow(body, 'application/json', bytes);

measure('path, query and header parameters', 2_000, checkParameters);
measure(`JSON body of ${small.length} bytes`, 2_000, () => checkBody(small));
measure('all of a small request', 2_000, () => checkParameters() ?? checkBody(small));
for (const size of [1_000, 100_000]) {
  const bytes = bodyOf(size);
  const text = bytes.toString();
  measure(`JSON body of ${bytes.length} bytes`, 1e6 / size, () => checkBody(bytes));
  measure('  of which JSON.parse', 1e6 / size, () => (JSON.parse(text) ? null : null));
}
