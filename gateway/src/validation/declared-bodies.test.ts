/** Bodies by what their document declares of them (docs/reference/gateway.md#validation). */
import { describe, expect, it } from 'vitest';
import { readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { BodyValidator } from './body.ts';
import { Schemas } from './schemas/schemas.ts';

const mock = loadBuiltinPlugin('mock');
const asker = { clientIp: '', authenticated: false, wanted: () => true };

async function bodiesOf(content: object) {
  const post = { requestBody: { required: true, content }, responses: {}, 'x-gw-dispatch': { name: 'mock' } };
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': { post } } };
  const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const result = await compile({ specs: ['a.json'], files, plugins: [mock], flags: { sourceDateEpoch: 0 } });
  if (!result.ok) throw new Error(result.diagnostics.map(({ message }) => message).join());
  const { routes } = await readArtifact(result.artifact);
  const body = routes.operations[0]?.request_body;
  if (!body) throw new Error('no body');
  const bodies = new BodyValidator(body, new Schemas(routes.schemas, false));
  return async (type: string, text: string, encoding?: string) => {
    const head = bodies.head(type, encoding);
    if ('kind' in head) return head.kind;
    if (!head.reads) return 'unread';
    return (await bodies.validate(type, Buffer.from(text), asker))?.kind ?? 'valid';
  };
}

it.each([{}, true])('a schema that admits everything still has JSON read: %j', async (schema) => {
  const verdict = await bodiesOf({ 'application/json': { schema } });
  expect(await verdict('application/json', '{"a":1}')).toBe('valid');
  for (const text of ['{a:1}', '[1,]', '{"a":1}{"b":1}', '{"a":1,"a":2}']) {
    expect([text, await verdict('application/json', text)]).toEqual([text, 'invalid']);
  }
  expect(await verdict('application/json; charset=iso-8859-1', '{}')).toBe('unsupported');
  expect(await verdict('application/json', '{}', 'gzip')).toBe('unsupported');
});

it('a media type without a schema has nothing read', async () => {
  const verdict = await bodiesOf({ 'application/json': {} });
  expect(await verdict('application/json', '{a:1}')).toBe('unread');
});

const partsOf = (...parts: string[]) =>
  `${parts.map((each) => `--x\r\ncontent-disposition: form-data; ${each}\r\n`).join('')}--x--\r\n`;

it.each([
  {},
  {
    encoding: {
      o: { contentType: 'application/json' },
      s: { contentType: 'text/plain' },
      f: { contentType: 'application/octet-stream' },
    },
  },
])('parts of a form are taken alike, whether the default of their encoding is stated: %j', async (stated) => {
  const object = { type: 'object', properties: { a: { type: 'integer' } } };
  const properties = { o: object, s: { type: 'string' }, f: { type: 'string', format: 'binary' } };
  const verdict = await bodiesOf({ 'multipart/form-data': { schema: { type: 'object', properties }, ...stated } });
  const type = 'multipart/form-data; boundary=x';
  expect(await verdict(type, partsOf('name="o"\r\n\r\n{"a":1}', 'name="s"\r\n\r\nx'))).toBe('valid');
  expect(await verdict(type, partsOf('name="o"\r\ncontent-type: application/json\r\n\r\n{"a":1}'))).toBe('valid');
  expect(await verdict(type, partsOf('name="o"\r\n\r\n{"a":"x"}'))).toBe('invalid');
  expect(await verdict(type, partsOf('name="f"; filename="a.png"\r\ncontent-type: image/png\r\n\r\nx'))).toBe('valid');
});

describe('a field of a form that its document declares as', () => {
  const text = { type: 'string', enum: ['eHg='] };
  const verdictOn = async (schema: unknown, part: string, stated = {}) => {
    const verdict = await bodiesOf({
      'multipart/form-data': { schema: { type: 'object', required: ['f'], properties: { f: schema } }, ...stated },
    });
    return await verdict('multipart/form-data; boundary=x', partsOf(part));
  };
  const file = 'name="f"; filename="a.txt"\r\n\r\neHg=';
  const image = 'name="f"\r\ncontent-type: image/png\r\n\r\neHg=';
  const plain = 'name="f"\r\ncontent-type: text/plain\r\n\r\neHg=';

  it.each([
    ['a text', text],
    ['a number', { type: ['number', 'string'] }],
    ['a list of texts', { type: 'array', items: text }],
    ['a text of a branch', { allOf: [text] }],
  ])('%s is no file, which a server would not read as that field', async (_, schema) => {
    for (const part of [file, image]) expect(await verdictOn(schema, part)).toBe('invalid');
    expect(await verdictOn(schema, plain)).toBe('valid');
    expect(await verdictOn(schema, 'name="f"\r\n\r\neHg=')).toBe('valid');
  });

  it.each([
    ['bytes', { type: 'string', format: 'binary' }],
    ['Base64', { type: 'string', format: 'byte' }],
    ['content of a type', { type: 'string', contentMediaType: 'image/png' }],
    [
      'bytes or null, as FastAPI writes an optional file',
      { anyOf: [{ type: 'string', format: 'binary' }, { type: 'null' }] },
    ],
    ['bytes of a branch', { allOf: [{ type: 'string', format: 'binary' }] }],
    [
      'a list of files or null',
      { anyOf: [{ type: 'array', items: { type: 'string', contentMediaType: 'image/png' } }, { type: 'null' }] },
    ],
    ['a list of files', { type: 'array', items: { type: 'string', format: 'binary' } }],
    ['anything', {}],
    ['a list of anything', { type: 'array' }],
  ])('%s may be a file', async (_, schema) => {
    for (const part of [file, image, plain]) expect(await verdictOn(schema, part)).toBe('valid');
  });

  it('a text of a type of its own may be a file of that type', async () => {
    const stated = { encoding: { f: { contentType: 'image/png' } } };
    expect(await verdictOn({ type: 'string' }, image, stated)).toBe('valid');
    expect(await verdictOn({ type: 'string' }, plain, stated)).toBe('invalid');
  });
});

it('an enum without elements admits nothing', async () => {
  const schema = { type: 'object', properties: { a: { enum: [] } } };
  const verdict = await bodiesOf({ 'application/json': { schema } });
  expect(await verdict('application/json', '{}')).toBe('valid');
  expect(await verdict('application/json', '{"a":1}')).toBe('invalid');
});
