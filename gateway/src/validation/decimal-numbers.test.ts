/** Numbers of requests and of documents are their decimal text (docs/decisions.md#numbers-are-decimal). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { validateNow } from '../../../test/validate-now.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { BodyValidator } from './body.ts';
import { ParameterValidator } from './parameters.ts';
import { ResponseValidator } from './response.ts';
import { Schemas } from './schemas/schemas.ts';

const mock = loadBuiltinPlugin('mock');
const JSON_TYPE = 'application/json';

interface Checks {
  readonly body: (text: string, type?: string) => boolean;
  readonly query: (query: string) => boolean;
  readonly response: (text: string) => boolean;
  readonly reasons: (text: string) => readonly string[];
}

/** `schema`: JSON text of the schema of bodies, of the query's `q` and of responses. */
async function checksOf(schema: string, version = '3.1.0', name = 'api.json'): Promise<Checks> {
  const form = `{"schema":{"type":"object","properties":{"q":${schema}}}}`;
  const types = ['application/x-www-form-urlencoded', 'multipart/form-data'].map((type) => `"${type}":${form}`);
  const content = `{"${JSON_TYPE}":{"schema":${schema}}}`;
  const text = `{"openapi":"${version}","info":{"title":"T","version":"1"},"paths":{"/a":{"post":{
    "parameters":[{"name":"q","in":"query","schema":${schema}}],
    "requestBody":{"content":{"${JSON_TYPE}":{"schema":${schema}},${types.join()}}},
    "responses":{"200":{"description":"ok","content":${content}}},
    "x-gw-validate-response":"enforce","x-gw-dispatch":{"name":"mock"}}}}}`;
  const files = [{ name, bytes: Buffer.from(text) }];
  const result = await compile({ specs: [name], files, plugins: [mock], flags: { sourceDateEpoch: 0 } });
  if (!result.ok) throw new Error(result.diagnostics.map(({ message }) => message).join());
  const { routes } = await readArtifact(result.artifact);
  const [operation] = routes.operations;
  if (!operation?.request_body) throw new Error('no operation');
  const schemas = new Schemas(routes.schemas, false);
  const bodies = new BodyValidator(operation.request_body, schemas);
  const parameters = new ParameterValidator(operation.parameters, '/a', schemas);
  const responses = ResponseValidator.of(operation, schemas, 1e6);
  const faultOf = (body: string, type = JSON_TYPE) => validateNow(bodies, type, Buffer.from(body));
  return {
    body: (body, type) => faultOf(body, type) === null,
    query: (query) => parameters.validate({ query, headers: [], patternSteps: 0 }, [], false) === null,
    response: (body) => {
      const asker = { clientIp: '', authenticated: false, wanted: () => true };
      return responses?.errors(200, ['content-type', JSON_TYPE], Buffer.from(body), asker) === null;
    },
    reasons: (body) => {
      const fault = faultOf(body);
      return fault?.kind === 'invalid' ? fault.errors.map(({ reason }) => reason) : [];
    },
  };
}

const MULTIPART = 'multipart/form-data; boundary=xx';
const partOf = (value: string) => `--xx\r\ncontent-disposition: form-data; name="q"\r\n\r\n${value}\r\n--xx--\r\n`;

const LONG = '1234567890123456789';
const cases: readonly (readonly [schema: string, right: readonly string[], wrong: readonly string[]])[] = [
  [
    `{"type":"number","const":${LONG}}`,
    [LONG, `${LONG}.0`, `${LONG}00e-2`],
    ['1234567890123456788', '1.2345678901234568e18'],
  ],
  [
    '{"type":"integer","enum":[9007199254740993,1]}',
    ['9007199254740993', '1'],
    ['9007199254740992', '9007199254740994'],
  ],
  [
    '{"type":"integer","format":"int64"}',
    ['9223372036854775807', '-9223372036854775808'],
    ['9223372036854775808', '-9223372036854775809', '1e400'],
  ],
  ['{"type":"integer","format":"uint64"}', ['18446744073709551615', '0'], ['18446744073709551616', '-1']],
  [
    '{"type":"integer","format":"int32"}',
    ['2147483647', '21474836.47e2'],
    ['2147483648', '2147483647.0000000000000001'],
  ],
  ['{"type":"integer"}', ['1e400', '9007199254740993'], ['9007199254740993.5', '1e-400', '1.00000000000000000001']],
  ['{"type":"number"}', ['1e400', '-1e400', '1e-400', '1e305'], ['"a"']],
  ['{"type":"number","format":"double"}', ['1e308', '0.1'], ['1e400', '-1e400']],
  ['{"type":"number","format":"float"}', ['3.4e38', '0.1'], ['3.5e38', '1e400']],
  [
    '{"type":"number","maximum":9007199254740993}',
    ['9007199254740993', '9007199254740992', '-1e400'],
    ['9007199254740993.1', '9007199254740994', '1e400'],
  ],
  [
    '{"type":"number","exclusiveMinimum":9007199254740993}',
    ['9007199254740994', '9007199254740993.5', '1e400'],
    ['9007199254740993', '9007199254740992'],
  ],
  ['{"type":"number","minimum":5}', ['5', '5.00000000000000000001'], ['4.99999999999999999999', '1e-400']],
  ['{"type":"number","maximum":1e300}', ['1e300'], ['1.00000000000000000001e300', '1e305']],
  [
    '{"type":"number","multipleOf":0.01}',
    ['19.99', '4.35', '1e400', '12345678901234567890.01'],
    ['1.005', '19.990000000000000000001', '12345678901234567890.015', '1e-400'],
  ],
  [
    '{"type":"number","multipleOf":9007199254740993}',
    ['18014398509481986', '9007199254740993'],
    ['9007199254740992', '18014398509481984'],
  ],
];

describe('a number', () => {
  it.each(cases)('of %s is compared by its digits, wherever it stands', async (schema, right, wrong) => {
    const { body, query, response } = await checksOf(schema);
    const form = 'application/x-www-form-urlencoded';
    const verdicts = (text: string) => [
      body(text),
      response(text),
      ...(text.startsWith('"') ? [] : [query(`q=${text}`), body(`q=${text}`, form), body(partOf(text), MULTIPART)]),
    ];
    for (const each of right) expect([each, new Set(verdicts(each))]).toEqual([each, new Set([true])]);
    for (const each of wrong) expect([each, new Set(verdicts(each))]).toEqual([each, new Set([false])]);
  });

  it('is told from others in a list, and within objects', async () => {
    const { body } = await checksOf('{"type":"array","uniqueItems":true}');
    expect(body('[9007199254740993,9007199254740992]')).toBe(true);
    expect(body('[9007199254740993,9007199254740993.0]')).toBe(false);
    expect(body('[{"a":[1e400]},{"a":[1e401]}]')).toBe(true);
    expect(body('[{"a":[1e400]},{"a":[10e399]}]')).toBe(false);
    const constant = await checksOf('{"const":{"a":[9007199254740993]}}');
    expect(constant.body('{"a":[9007199254740993]}')).toBe(true);
    expect(constant.body('{"a":[9007199254740992]}')).toBe(false);
    const list = await checksOf('{"enum":[{"a":9007199254740993},2]}');
    expect(list.body('{"a":9007199254740993}')).toBe(true);
    expect(list.body('{"a":9007199254740992}')).toBe(false);
    const plain = await checksOf('{"enum":[{"a":9007199254740992}]}');
    expect(plain.body('{"a":9007199254740993}')).toBe(false);
  });

  it('is named with its digits where it is refused', async () => {
    const { reasons } = await checksOf('{"maximum":9007199254740993}');
    expect(reasons('1e400')).toEqual(['must be <= 9007199254740993']);
    const list = await checksOf('{"enum":[9007199254740993]}');
    expect(list.reasons('1')).toEqual(['must be equal to one of the allowed values: [9007199254740993]']);
  });

  it.each([
    ['YAML', 'api.yaml', '{"const":+9007199254740993}', '3.1.0'],
    ['YAML with a fraction', 'api.yaml', '{"const":9007199254740993.}', '3.1.0'],
    ['OpenAPI 3.0', 'api.json', '{"type":"number","nullable":true,"enum":[9007199254740993]}', '3.0.3'],
    [
      'an exclusive bound of OpenAPI 3.0',
      'api.json',
      '{"minimum":9007199254740992.5,"exclusiveMinimum":true,"maximum":9007199254740993}',
      '3.0.3',
    ],
  ])('keeps its digits in a document of %s', async (_, name, schema, version) => {
    const { body } = await checksOf(schema, version, name);
    expect(body('9007199254740993')).toBe(true);
    expect(body('9007199254740992')).toBe(false);
    if (schema.includes('nullable')) expect(body('null')).toBe(true);
  });

  it('is what its digits say, whatever they are', async () => {
    const { body } = await checksOf(
      '{"type":"integer","minimum":-12345678901234567890,"maximum":12345678901234567890}',
    );
    const most = 12345678901234567890n;
    fc.assert(
      fc.property(fc.bigInt({ min: most - 99n, max: most + 99n }), fc.boolean(), fc.nat(3), (size, negative, zeros) => {
        const text = `${negative ? '-' : ''}${size}${zeros > 0 ? `.${'0'.repeat(zeros)}` : ''}`;
        expect(body(text)).toBe(size <= most);
      }),
      propertyRuns(300),
    );
  });
});
