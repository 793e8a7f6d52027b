import { describe, expect, it } from 'vitest';
import type { FormField, Json, Parameter } from '../../kit.ts';
import { FrameWriter } from './frame-writer.ts';
import { writeProofs } from './proof-frame.ts';
import { type Proof, proofsOf } from './proofs.ts';

const PATH = '/a';
const hasForm = ({ form }: Proof) => form.kind !== 'any';

const field = (name: string, types: string[] = ['string']): FormField => ({
  name,
  style: 'form',
  explode: true,
  types,
});

const parameter = (name: string, schema: Json, more: Partial<Parameter> = {}): Parameter => ({
  ...field(name),
  in: 'query',
  required: false,
  schema: schema as never,
  ...more,
});

function namesOfParameters(...parameters: Parameter[]): readonly Proof[] {
  return proofsOf(PATH, { parameters, body: null, schemas: { Level: { type: 'integer' } } }).names;
}

function ofParameters(...parameters: Parameter[]): readonly Proof[] {
  return namesOfParameters(...parameters).filter(hasForm);
}

function namesOfBody(content: object, schemas: Record<string, Json> = {}): readonly Proof[] {
  return proofsOf(PATH, { parameters: [], body: { required: true, content: content as never }, schemas }).names;
}

function ofBody(content: object, schemas: Record<string, Json> = {}): Record<string, string> {
  const proofs = namesOfBody(content, schemas).filter(hasForm);
  return Object.fromEntries(proofs.map(({ name, form }) => [name, form.kind]));
}

const ofJson = (schema: Json, schemas?: Record<string, Json>) => ofBody({ 'application/json': { schema } }, schemas);
const object = (properties: Json, more: object = {}): Json => ({ type: 'object', properties, ...more });
const INJECTION = "1' or '1'='1";

describe('a value is harmless', () => {
  it.each<[Json, string | null]>([
    [{ type: 'integer' }, 'number'],
    [{ type: ['number', 'null'] }, 'number'],
    [{ type: ['integer', 'string'] }, null],
    [{ type: 'boolean' }, 'texts'],
    [{ type: 'string' }, null],
    [{ type: 'string', maxLength: 10 }, null],
    [{ type: 'string', format: 'uuid' }, 'bytes'],
    [{ type: 'string', format: 'date' }, 'bytes'],
    [{ type: 'string', format: 'date-time' }, 'bytes'],
    [{ type: 'string', format: 'email' }, null],
    [{ type: 'string', pattern: '^[A-Fa-f0-9]{24}$' }, null],
    [{ type: 'string', pattern: '^\\d{3}-\\d{4}$' }, null],
    [{ type: 'string', pattern: '^\\d{3,6}$' }, 'bytes'],
    [{ type: 'string', pattern: '^[A-Za-z0-9_-]+$' }, null],
    [{ type: 'string', pattern: '[A-Za-z0-9_-]+' }, null],
    [{ type: 'string', pattern: '^[a-z ]+$' }, null],
    [{ type: 'string', pattern: '^.+$' }, null],
    [{ enum: ['asc', 'desc'] }, 'texts'],
    [{ enum: [1, 2] }, 'number'],
    [{ const: 'a' }, 'texts'],
    [{ enum: ['x'.repeat(65)] }, null],
    [{ $ref: 'gw:Level' }, 'number'],
    [{ allOf: [{ $ref: 'gw:Level' }, { minimum: 1 }] }, 'number'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'number'],
    [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, null],
    [true, null],
  ])('as %j: %s', (schema, kind) => {
    expect(ofParameters(parameter('a', schema))[0]?.form.kind ?? null).toBe(kind);
  });

  it('with as many characters as its schema allows', () => {
    const [proof] = ofParameters(parameter('a', { type: 'string', pattern: '^[0-7]+$', maxLength: 8 }));
    expect(proof?.form).toEqual({ kind: 'bytes', allowed: [[0x30, 0x37]], longest: 8, template: '' });
  });
});

describe('a parameter', () => {
  const integer = { type: 'integer' };
  const named = (one: Parameter) => ofParameters(one).map(({ variable, name }) => `${variable}:${name}`);

  it('has the variable and the name that rules have for it', () => {
    expect(named(parameter('page', integer))).toEqual(['ARGS_GET:page']);
    expect(named(parameter('x-count', integer, { in: 'header', style: 'simple' }))).toEqual([
      'REQUEST_HEADERS:x-count',
    ]);
    expect(named(parameter('n', integer, { in: 'cookie' }))).toEqual(['REQUEST_COOKIES:n']);
    expect(named(parameter('id', integer, { in: 'path', style: 'simple' }))).toEqual([]);
  });

  it('with items is proved where each is a value by itself', () => {
    const list = { type: 'array', items: integer };
    expect(named(parameter('ids', list, { types: ['array'] }))).toEqual(['ARGS_GET:ids']);
    expect(named(parameter('ids', list, { types: ['array'], explode: false }))).toEqual([]);
    expect(named(parameter('ids', list, { types: ['array'], style: 'pipeDelimited', explode: false }))).toEqual([]);
  });

  it('is not proved as an object, or with a content type', () => {
    const range = object({ from: integer });
    expect(named(parameter('r', range, { types: ['object'], property_types: { from: ['integer'] } }))).toEqual([]);
    expect(named(parameter('r', range, { types: ['object'], style: 'deepObject' }))).toEqual([]);
    expect(named(parameter('r', integer, { content_type: 'application/json' }))).toEqual([]);
  });

  it('is not proved if the members of an object have its name', () => {
    const range = parameter('r', object({ page: {} }), { types: ['object'], property_types: { page: [] } });
    expect(ofParameters(parameter('page', integer), range)).toEqual([]);
  });
});

describe('a member of JSON', () => {
  const integer = { type: 'integer' };

  it('is named by its path', () => {
    const item = object({ price: integer, tags: { type: 'array', items: { enum: ['a'] } } });
    const order = object({
      id: integer,
      note: { type: 'string' },
      items: { type: 'array', items: { $ref: 'gw:Item' } },
    });
    expect(ofJson(order, { Item: item })).toEqual({
      'json.id': 'number',
      'json.items': 'number',
      'json.items.*.price': 'number',
      'json.items.*.tags': 'number',
      'json.items.*.tags.*': 'texts',
    });
    expect(ofJson({ type: 'array', items: integer })).toEqual({ json: 'number', 'json.*': 'number' });
  });

  it('is found in all schemas that apply', () => {
    const schema = {
      allOf: [object({ a: integer }), { properties: { b: integer }, oneOf: [object({ c: integer }), {}] }],
    };
    expect(ofJson(schema)).toEqual({ 'json.a': 'number', 'json.b': 'number' });
  });

  it('is not proved with a name that paths read in another way', () => {
    expect(ofJson(object({ 'a.b': integer, '*': integer, '5': integer, '': integer }))).toEqual({});
  });

  it('is not proved behind items with schemas of their own', () => {
    expect(ofJson({ type: 'array', items: integer, prefixItems: [{}] })).toEqual({ json: 'number' });
  });

  it('may be one of texts with any characters only where no other member has its path', () => {
    const odd = { enum: ['asc', INJECTION] };
    expect(ofJson(object({ sort: odd }))).toEqual({ 'json.sort': 'texts' });
    const inner = object({ by: odd });
    expect(ofJson(object({ sort: inner }))).toEqual({});
    expect(ofJson(object({ sort: inner }, { additionalProperties: false }))).toEqual({ 'json.sort.by': 'texts' });
    const dotted = { sort: inner, 'sort.by': { type: 'string' } };
    expect(ofJson(object(dotted, { additionalProperties: false }))).toEqual({});
    const closed = { additionalProperties: false, patternProperties: { '^x': {} } };
    expect(ofJson(object({ sort: inner }, closed))).toEqual({});
    const body = { schema: object({ sort: odd }) };
    expect(ofBody({ 'application/json': body, 'application/merge-patch+json': body })).toEqual({});
  });

  it('is not proved if bodies of two types describe it differently', () => {
    const [one, other] = [
      { schema: object({ a: integer, b: integer }) },
      { schema: object({ a: { type: 'string' } }) },
    ];
    expect(ofBody({ 'application/json': one, 'application/vnd.a+json': other })).toEqual({ 'json.b': 'number' });
  });

  it('is looked at in recursive schemas up to a bound', () => {
    const tree = object({ value: integer, left: { $ref: 'gw:Tree' }, right: { $ref: 'gw:Tree' } });
    const names = Object.keys(ofJson({ $ref: 'gw:Tree' }, { Tree: tree }));
    expect(names).toContain('json.left.right.value');
    expect(names.length).toBeLessThanOrEqual(500);
  });
});

it('a field of a form is named as it is', () => {
  const schema = object({
    n: { type: 'integer' },
    ids: { type: 'array', items: { type: 'integer' } },
    meta: object({}),
    'json.n': { type: 'integer' },
  });
  const fields = [
    field('n', ['integer']),
    field('ids', ['array']),
    { ...field('meta', ['object']), content_type: 'application/json' },
    field('json.n', ['integer']),
  ];
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data']) {
    expect(ofBody({ [type]: { schema, fields } })).toEqual({ n: 'number', ids: 'number' });
  }
});

describe('a name is one of the description', () => {
  const names = (proofs: readonly Proof[]) => proofs.map(({ variable, name }) => `${variable} ${name}`).sort();

  it('whatever its values are', () => {
    const header = parameter('content-range', { type: 'string' }, { in: 'header', style: 'simple' });
    const cookie = parameter('sid', { type: 'string' }, { in: 'cookie' });
    const proofs = namesOfParameters(parameter('createdAt[$gte]', { type: 'string' }), header, cookie);
    expect(names(proofs)).toEqual(['ARGS_GET createdAt[$gte]', 'REQUEST_COOKIES sid', 'REQUEST_HEADERS content-range']);
    expect(proofs.filter(hasForm)).toEqual([]);
  });

  it('of schemas that refer to themselves, whatever their members are called', () => {
    for (const name of ['a b', 'a.b', '1', '*', 'a']) {
      const tree = object({ [name]: { $ref: 'gw:Tree' } }, { items: { $ref: 'gw:Tree' } });
      const either: Json = {
        anyOf: [{ $ref: 'gw:Tree' }, { $ref: 'gw:Either' }, { type: 'array', items: { $ref: 'gw:Either' } }],
      };
      const schemas = { Tree: tree, Either: either };
      for (const schema of Object.keys(schemas)) {
        const found = namesOfBody({ 'application/json': { schema: { $ref: `gw:${schema}` } } }, schemas);
        expect(found.length).toBeLessThanOrEqual(500);
      }
    }
  });

  it('if it is an identifier', () => {
    const parameters = ['a b', '<script>', 'x;y', "o'clock", 'price_é'].map((name) =>
      parameter(name, { type: 'integer' }),
    );
    expect(namesOfParameters(...parameters)).toEqual([]);
  });

  it('as the style of a parameter writes it', () => {
    const of = (style: 'form' | 'deepObject') =>
      names(
        namesOfParameters(
          parameter('filter', {}, { style, types: ['object'], property_types: { a: ['string'] }, explode: true }),
        ),
      );
    expect(of('form')).toEqual(['ARGS_GET a']);
    expect(of('deepObject')).toEqual(['ARGS_GET filter[a]']);
  });

  it('in branches of unions and conditions', () => {
    const rules = { type: 'array', items: { anyOf: [object({ entry: {} }), object({ target: {} })] } };
    const schema = { oneOf: [object({ rules: rules as Json }), object({ other: {} })], else: object({ later: {} }) };
    const found = names(namesOfBody({ 'application/json': { schema } }));
    for (const name of ['rules.*.entry', 'rules.*.target', 'other', 'later']) {
      expect(found).toContain(`ARGS_POST json.${name}`);
    }
  });

  it('in bodies of forms and of JSON', () => {
    const schema = object({
      profile: { type: 'string' },
      'a.b': { type: 'string' },
      list: { type: 'array', items: {} },
    });
    expect(names(namesOfBody({ 'text/json': { schema } }))).toEqual([
      'ARGS_POST json',
      'ARGS_POST json.a.b',
      'ARGS_POST json.list',
      'ARGS_POST json.list.*',
      'ARGS_POST json.profile',
    ]);
    const form = { schema, fields: [field('session_id')] };
    expect(names(namesOfBody({ 'multipart/form-data': form }))).toEqual(['ARGS_POST session_id']);
  });
});

it.each([
  ['/users.profile.get', ['users.profile.get']],
  ['/users/{id}/profile', ['users', '', 'profile']],
  ['/files/{name}.json', ['files', '']],
  ['/{a}/{b}', []],
  ['/', ['']],
])('the path template %s has literals %j', (path, segments) => {
  expect(proofsOf(path, { parameters: [], body: null, schemas: {} }).segments).toEqual(segments);
});

it('writes proofs by variable and name', () => {
  const proofs = ofParameters(
    parameter('b', { const: 'é' }),
    parameter('a', { type: 'integer' }),
    parameter('n', { type: 'string', format: 'date' }, { in: 'header', style: 'simple' }),
  );
  const frame = new FrameWriter();
  writeProofs(frame, { names: proofs, segments: ['users', ''] });
  const expected = new FrameWriter().number(3);
  expected.number(2).text('a').number(2).bytes(new FrameWriter().number(9).taken());
  expected.number(2).text('b').number(1).bytes(new FrameWriter().text('\xc3\xa9').taken());
  const date = new FrameWriter().raw(new Uint8Array(32)).number(10).raw(Buffer.from('0000-00-00'));
  expected.number(50).text('n').number(0).bytes(date.taken());
  expected.number(2).text('users').text('');
  expect(Buffer.from(frame.taken()).toString('hex')).toBe(Buffer.from(expected.taken()).toString('hex'));
});
