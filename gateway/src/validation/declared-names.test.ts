import { describe, expect, it } from 'vitest';
import type { FormField, Parameter } from '../artifact/format.ts';
import { readParts, readUrlencoded } from './form.ts';
import { ParameterValidator } from './parameters.ts';
import { Schemas } from './schemas/schemas.ts';
import { DeclaredNames, READ_AS_DECLARED } from './styles/declared-names.ts';

const field = (name: string, more: Partial<FormField> = {}): FormField => ({
  name,
  style: 'form',
  explode: true,
  types: [],
  ...more,
});
const fields = [
  field('limit'),
  field('tags[]'),
  field('filter', { style: 'deepObject' }),
  field('point', { property_types: { x: ['integer'] } }),
];
const parameters = (part: Parameter['in']): Parameter[] =>
  fields.map((each) => ({ ...each, in: part, required: false }));
const READ_AS_LIMIT = ['&+limit=9', '&%20limit=9', '&limit[]=9', '&limit%5B0%5D=9', '&limit%00x=9', '&a=1;limit=9'];
const READ_AS_OTHERS = ['&+x=9', '&x[]=9', '&+tags[]=9', '&+filter[a]=9', '&limit+=9', '&a=1;+limit[]=9', ';limit=9'];
const OTHERS = ['', '&limits=9', '&other[]=9', '&+other=9', '&tags[]=1', '&filter[a]=9', '&a=1;b=2', '&a=limit;limit'];

const errorsOf = (part: Parameter['in'], given: { readonly query?: string; readonly headers?: string[] }) =>
  new ParameterValidator(parameters(part), '/', new Schemas({}, false)).validate(
    { query: given.query, headers: given.headers ?? [], patternSteps: 0 },
    [],
    false,
  );

describe('a name that servers read as a declared one', () => {
  it.each([...READ_AS_LIMIT, ...READ_AS_OTHERS])('is refused in a query and in a form: %s', (text) => {
    const refused = [expect.objectContaining({ reason: READ_AS_DECLARED })];
    expect(errorsOf('query', { query: `limit=5${text}` })).toEqual(refused);
    expect(readUrlencoded(fields, `limit=5${text}`)).toEqual({ errors: refused });
  });

  it.each(OTHERS)('is no name of its own: %s passes', (text) => {
    expect(errorsOf('query', { query: `limit=5${text}` })).toBeNull();
    expect(readUrlencoded(fields, `limit=5${text}`)).toHaveProperty('value');
  });

  it.each(['limit[0]', 'l%69mit', '%20limit', 'limit%5B%5D'])('is refused among cookies: %s', (name) => {
    const refused = [{ in: 'cookie', field: 'limit', reason: READ_AS_DECLARED }];
    expect(errorsOf('cookie', { headers: ['cookie', `limit=5; ${name}=9`] })).toEqual(refused);
    expect(errorsOf('cookie', { headers: ['cookie', 'limit=5; other[0]=9; %zz=1'] })).toBeNull();
  });

  it.each([
    [' limit', false],
    ['limit[]', false],
    ['limit', true],
    ['tags[]', true],
    ['other[]', true],
  ])('is refused among the parts of a form: %s', (name, passes) => {
    const body = `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n9\r\n--b--`;
    const reading = readParts(fields, 'multipart/form-data; boundary=b', Buffer.from(body));
    expect('value' in reading).toBe(passes);
  });

  it('is told apart in one pass, however long it is', () => {
    const names = new DeclaredNames(fields);
    expect(names.readAsIn([], `${';a'.repeat(100_000)};limit=1`)).toBe('limit');
  });
});
