/** Content types, Accept, forms and multipart, on text that clients make up. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mutated } from '../../../test/mutations.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { validateNow } from '../../../test/validate-now.ts';
import type { FormField } from '../artifact/format.ts';
import { covers, isUtf8, mediaTypeOf, parametersOf } from '../headers/media-type.ts';
import { AcceptCheck } from './accept.ts';
import { BodyValidator } from './body.ts';
import { readUrlencoded } from './form.ts';
import { readMultipart } from './multipart.ts';
import { Schemas } from './schemas/schemas.ts';

const tokens = [
  'a',
  '/',
  '*',
  ';',
  '=',
  '"',
  '\\',
  ',',
  ' ',
  '\t',
  'q=0',
  'q=0.5',
  'charset',
  'utf-8',
  'boundary',
  '+json',
  'é',
];
const header = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.array(fc.constantFrom(...tokens), { maxLength: 16 }).map((all) => all.join('')),
);
const token = fc.stringMatching(/^[a-z0-9!#$&^_.+-]{1,8}$/);

it('reads back the parameters of any content type', () => {
  const value = fc.oneof(token, fc.stringMatching(/^[a-z0-9 ;,=/]{0,8}$/));
  const parameters = fc.uniqueArray(fc.tuple(token, value), { maxLength: 4, selector: ([name]) => name });
  fc.assert(
    fc.property(token, token, parameters, fc.constantFrom(';', '; ', ' ; '), (type, subtype, given, separator) => {
      const quoted = given.map(([name, text]) => `${name}=${/^[^\s;,="]+$/.test(text) ? text : `"${text}"`}`);
      const written = [`${type}/${subtype}`, ...quoted].join(separator);
      expect(mediaTypeOf(written)).toBe(`${type}/${subtype}`);
      expect([...(parametersOf(written) ?? [])]).toEqual(given);
    }),
    propertyRuns(2000),
  );
});

it('judges any Accept and content type', () => {
  const check = () => new AcceptCheck(['application/json', 'text/*']);
  fc.assert(
    fc.property(header, (given) => {
      inTime(() => {
        const accept = check();
        const verdict = accept.admits(given);
        expect(accept.admits(given)).toBe(verdict);
        if (/(^|,)\s*application\/json\s*(,|$)/i.test(given)) expect(verdict).toBe(true);
        const media = mediaTypeOf(given);
        expect(covers('*/*', media)).toBe(true);
        expect(covers(media, media)).toBe(true);
        isUtf8(given);
        parametersOf(given);
      });
    }),
    propertyRuns(3000),
  );
});

const fields: readonly FormField[] = [
  { name: 'a', style: 'form', explode: true, types: ['string'] },
  { name: 'n', style: 'form', explode: true, types: ['integer'] },
  { name: 'd', style: 'deepObject', explode: true, types: ['object'] },
  { name: 'j', style: 'form', explode: true, types: ['object'], content_type: 'application/json' },
];
const schema = { type: 'object', properties: { a: { type: 'string' }, n: { type: 'integer' }, d: { type: 'object' } } };
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
const validator = new BodyValidator(
  {
    required: true,
    content: { [FORM]: { schema: { $ref: 'gw:s' }, fields }, [MULTIPART]: { schema: { $ref: 'gw:s' }, fields } },
  },
  new Schemas({ s: schema }, true),
);

it('reads back any fields of a form', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 });
  const pairs = fc.array(fc.tuple(fc.stringMatching(/^[e-i]{1,3}$/), text), { maxLength: 6 });
  fc.assert(
    fc.property(pairs, (given) => {
      const read = readUrlencoded([], new URLSearchParams(given).toString());
      const wanted = Object.groupBy(given, ([name]) => name);
      const values = Object.entries(wanted).map(([name, all = []]) => [
        name,
        all.length === 1 ? all[0]?.[1] : all.map(([, each]) => each),
      ]);
      expect(read).toEqual({ value: Object.fromEntries(values) });
    }),
    propertyRuns(1500),
  );
});

const part = '--xx\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
const whole = Buffer.from(
  `${part}--xx\r\nContent-Disposition: form-data; name="f"; filename="x"\r\nContent-Type: a/b\r\n\r\n\0\r\n--xx--\r\n`,
);
const marks = [
  '--xx',
  '--xx--',
  '\r\n',
  '\r\n\r\n',
  '\n',
  '"',
  ';',
  'name=',
  ': ',
  '%',
  '&',
  '=',
  'd[a]',
  '[',
  ']',
  '{',
  '\0',
];

it('reads or refuses any body, with no part that is not in it', () => {
  const body = fc.oneof(
    mutated([whole, Buffer.from('a=1&n=2&d[x][y]=3&j=%7B%7D')], marks),
    fc.uint8Array({ maxLength: 80 }),
  );
  fc.assert(
    fc.property(body, header, (given, contentType) => {
      inTime(() => {
        validateNow(validator, FORM, given);
        validateNow(validator, `${MULTIPART}; boundary=xx`, given);
        validateNow(validator, `${MULTIPART}; ${contentType}`, given);
      });
      const parts = readMultipart(`${MULTIPART}; boundary=xx`, given);
      if (typeof parts === 'string') return;
      const bytes = parts.reduce((sum, each) => sum + each.body.length, 0);
      expect(bytes).toBeLessThan(given.length);
      for (const each of parts) expect(each.body.includes('\r\n--xx')).toBe(false);
    }),
    propertyRuns(3500),
  );
});
