import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { validateNow } from '../../../test/validate-now.ts';
import type { FormField, Json, MediaType } from '../artifact/format.ts';
import { BodyValidator } from './body.ts';
import { readUrlencoded } from './form.ts';
import { readMultipart } from './multipart.ts';
import { Schemas } from './schemas/schemas.ts';

const field = (name: string, given: Partial<FormField> = {}): FormField => ({
  name,
  style: 'form',
  explode: true,
  types: ['string'],
  ...given,
});

function validator(type: string, schema: Json, media: Omit<MediaType, 'schema'> = {}) {
  const schemas = new Schemas({ s: schema }, true);
  return new BodyValidator({ required: true, content: { [type]: { schema: { $ref: 'gw:s' }, ...media } } }, schemas);
}

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
const person = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 2 },
    age: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 2 },
    home: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
    file: { type: 'string', maxLength: 4 },
  },
};
const fields = [
  field('name'),
  field('age', { types: ['integer'] }),
  field('tags', { types: ['array'], item_types: ['string'] }),
  field('home', { types: ['object'], content_type: 'application/json' }),
  field('file', { part_types: ['image/png', 'image/svg+xml'] }),
];

/** Where and why, or `ok`. */
function verdict(made: BodyValidator, contentType: string, body: string | Buffer): unknown {
  const fault = validateNow(made, contentType, Buffer.from(body));
  if (fault === null) return 'ok';
  return fault.kind === 'invalid' ? fault.errors.map(({ field, reason }) => `${field} ${reason}`) : fault.kind;
}

describe('forms', () => {
  it.each([
    ['name=ann&age=7', 'ok'],
    ['name=ann&tags=a&tags=b', 'ok'],
    ['name=ann&home=%7B%22city%22:%22Ulm%22%7D', 'ok'],
    ['name=a', ['/name must NOT have fewer than 2 characters']],
    ['name=ann&age=x', ['/age must be integer']],
    ['name=ann&name=bob', ['/name is not written as the API description says']],
    ['name=ann&tags=a&tags=b&tags=c', ['/tags must NOT have more than 2 items']],
    ['name=ann&home=%7B', ['/home is not written as the API description says']],
    ['name=ann&more=1', ['/ must NOT have additional properties: "more"']],
    ['name=%ff', ['/ is badly percent-encoded']],
    ['', ["/ must have required property 'name'"]],
    ['name=ann&__proto__=1', ['/ must NOT have additional properties: "__proto__"']],
  ])('%s', (body, wanted) => {
    expect(verdict(validator(FORM, person, { fields }), FORM, body)).toEqual(wanted);
  });

  it('refuses more than 1000 fields', () => {
    const body = `name=ann${'&a=1'.repeat(1000)}`;
    expect(verdict(validator(FORM, person, { fields }), FORM, body)).toEqual(['/ has more than 1000 fields']);
  });

  it('reads styles: deepObject, pipeDelimited, exploded objects', () => {
    const styled = [
      field('a', { style: 'deepObject', types: ['object'], property_types: { x: ['integer'] } }),
      field('b', { style: 'pipeDelimited', explode: false, types: ['array'], item_types: ['integer'] }),
      field('c', { types: ['object'], property_types: { r: ['integer'] } }),
    ];
    expect(readUrlencoded(styled, 'a[x]=1&b=1|2&r=3&other=4&other=5')).toEqual({
      value: { a: { x: '1' }, b: [1, 2], c: { r: 3 }, other: ['4', '5'] },
    });
  });
});

describe('multipart/form-data', () => {
  const type = `${MULTIPART}; boundary=xx`;
  const part = (disposition: string, body: string, more = '') =>
    `--xx\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${body}\r\n`;
  const name = part('name="name"', 'ann');
  const png = 'Content-Type: image/png\r\n';

  it.each<[string, string | Buffer, unknown]>([
    ['a field', `${name}--xx--\r\n`, 'ok'],
    ['a number', `${name}${part('name="age"', '7')}--xx--`, 'ok'],
    ['a wrong number', `${name}${part('name="age"', 'x')}--xx--`, ['/age must be integer']],
    ['JSON', `${name}${part('name="home"', '{"city":"Ulm"}', 'Content-Type: application/json\r\n')}--xx--`, 'ok'],
    ['wrong JSON', `${name}${part('name="home"', '{}')}--xx--`, ["/home must have required property 'city'"]],
    ['a file', Buffer.from(`${name}${part('name="file"; filename="a.png"', 'ÿÿÿÿ', png)}--xx--`, 'latin1'), 'ok'],
    [
      'a file that is too long',
      `${name}${part('name="file"; filename="a.png"', '12345', png)}--xx--`,
      ['/file must NOT have more than 4 characters'],
    ],
    [
      'a file of another type',
      `${name}${part('name="file"; filename="a.exe"', '1', 'Content-Type: application/x-exe\r\n')}--xx--`,
      ['/file has content type application/x-exe: image/png, image/svg+xml is accepted'],
    ],
    ['a field twice', `${name}${name}--xx--`, ['/name is not written as the API description says']],
    ['another field', `${name}${part('name="more"', '1')}--xx--`, ['/ must NOT have additional properties: "more"']],
    ['nothing', '', ['/ does not begin with its boundary']],
    ['no end', name, ['/ does not end with its boundary']],
    ['a preamble', `hello\r\n${name}--xx--`, ['/ does not begin with its boundary']],
    ['an epilogue', `${name}--xx--\r\nmore`, ['/ has something after its last boundary']],
    ['a longer boundary', `${name}--xxx\r\n\r\n--xx--`, ['/ has a malformed boundary line']],
    ['a part without headers', '--xx\r\n\r\nbody\r\n--xx--', ['/ has a part without a valid Content-Disposition']],
    [
      'a repeated header',
      `${part('name="a"', '1', 'Content-Disposition: form-data; name="name"\r\n')}--xx--`,
      ['/ has a part with a malformed or repeated header'],
    ],
    [
      'a transfer encoding',
      `${part('name="name"', 'YQ==', 'Content-Transfer-Encoding: base64\r\n')}--xx--`,
      ['/ has a part with a transfer encoding'],
    ],
    [
      'a name in another form',
      `${part(`name="name"; name*=utf-8''role`, 'admin')}--xx--`,
      ['/ has an extended parameter in a Content-Disposition'],
    ],
    [
      'a name in pieces',
      `${part('name="name"; name*0=ro; name*1=le', 'admin')}--xx--`,
      ['/ has an extended parameter in a Content-Disposition'],
    ],
    [
      'a file with its name in another form',
      `${name}${part(`name="file"; filename*=utf-8''%C3%A4.png`, '1', png)}--xx--`,
      'ok',
    ],
    ['too many parts', `${part('name="a"', '').repeat(1001)}--xx--`, ['/ has more than 1000 parts']],
  ])('%s', (_name, body, wanted) => {
    expect(verdict(validator(MULTIPART, person, { fields }), type, body)).toEqual(wanted);
  });

  it.each(["boundary*=utf-8''yy", 'boundary*0=y; boundary*1=y'])('has one boundary: %s', (more) => {
    expect(readMultipart(`${type}; ${more}`, Buffer.from(`${name}--xx--`))).toBe(
      'has an extended parameter in its content type',
    );
  });

  it('wants a boundary', () => {
    expect(readMultipart(MULTIPART, Buffer.from(''))).toBe('has no valid boundary');
    expect(readMultipart(`${MULTIPART}; boundary="${'x'.repeat(71)}"`, Buffer.from(''))).toBe('has no valid boundary');
  });

  it('gives back what was written', () => {
    const parts = fc.array(fc.record({ name: fc.stringMatching(/^[a-z]{1,9}$/), body: fc.uint8Array() }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(parts, (given) => {
        const boundary = '----------boundary-0123456789';
        const written = given.flatMap(({ name, body }) => [
          Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
          Buffer.from(body),
          Buffer.from('\r\n'),
        ]);
        const bytes = Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)]);
        const read = readMultipart(`${MULTIPART}; boundary=${boundary}`, bytes);
        if (typeof read === 'string') throw new Error(read);
        expect(read.map(({ name, body }) => [name, [...body]])).toEqual(
          given.map(({ name, body }) => [name, [...body]]),
        );
      }),
      propertyRuns(300),
    );
  });
});

describe('other types', () => {
  it('checks text and +json, and leaves the rest', () => {
    const text = validator('text/*', { type: 'integer', maximum: 5 }, { types: ['integer'] });
    expect(verdict(text, 'text/plain', '5')).toBe('ok');
    expect(verdict(text, 'text/csv', '6')).toEqual(['/ must be <= 5']);
    expect(verdict(text, 'text/plain', Buffer.from([0xff]))).toEqual(['/ is not UTF-8 text']);
    const vendor = validator('application/vnd.x+json', { type: 'object' });
    expect(verdict(vendor, 'application/vnd.x+json', '[]')).toEqual(['/ must be object']);
    expect(validator('application/xml', { type: 'object' }).head('application/xml', undefined)).toEqual({
      reads: false,
    });
  });

  it('refuses other content types, codings and charsets before the body is read', () => {
    const json = validator('application/json', { type: 'object' });
    expect(json.head('application/json; charset=UTF-8', 'identity')).toEqual({ reads: true });
    expect(json.head('application/json; charset=latin1', undefined)).toMatchObject({ kind: 'unsupported' });
    expect(json.head('application/json', 'gzip')).toMatchObject({ kind: 'unsupported' });
    expect(json.head('text/plain', undefined)).toMatchObject({ kind: 'unsupported' });
    expect(json.head(undefined, undefined)).toMatchObject({ kind: 'unsupported' });
  });
});

it('never throws and never hangs, whatever the form', () => {
  const types = [FORM, `${MULTIPART}; boundary=xx`, `${MULTIPART}; boundary="`, 'text/plain'];
  const tokens = [
    '--xx',
    '--',
    '\r\n',
    'Content-Disposition: form-data; name=',
    '"name"',
    '"',
    ';',
    '=',
    '&',
    '[',
    '%',
  ];
  const body = fc.oneof(
    fc.array(fc.oneof(fc.constantFrom(...tokens), fc.string({ maxLength: 4 }))).map((all) => Buffer.from(all.join(''))),
    fc.uint8Array().map((all) => Buffer.from(all)),
  );
  const made = new Map([FORM, MULTIPART].map((type) => [type, validator(type, person, { fields })]));
  fc.assert(
    fc.property(fc.constantFrom(...types), body, (type, bytes) => {
      for (const each of made.values()) validateNow(each, type, bytes);
    }),
    propertyRuns(3000),
  );
  const evil = Buffer.from('\r\n--x'.repeat(250_000));
  inTime(() => {
    validateNow(
      made.get(MULTIPART) as BodyValidator,
      `${MULTIPART}; boundary=xx`,
      Buffer.concat([Buffer.from('--xx\r\n'), evil]),
    );
    validateNow(made.get(FORM) as BodyValidator, FORM, Buffer.from('a[b]='.repeat(200_000)));
  }, 1000);
});

it('takes a byte order mark for part of a form or a text, as upstreams do', () => {
  const form = validator(FORM, person, { fields });
  expect(verdict(form, FORM, 'name=ann')).toBe('ok');
  expect(verdict(form, FORM, '\ufeffname=ann')).toEqual([
    "/ must have required property 'name'",
    '/ must NOT have additional properties: "\ufeffname"',
  ]);
  const text = validator('text/plain', { type: 'string', maxLength: 1 }, { types: ['string'] });
  expect(verdict(text, 'text/plain', 'a')).toBe('ok');
  expect(verdict(text, 'text/plain', '\ufeffa')).toEqual(['/ must NOT have more than 1 characters']);
});
