/** A discriminator selects the branch (docs/decisions.md#discriminator-selects). */
import { describe, expect, it } from 'vitest';
import { validateNow } from '../../../test/validate-now.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { loadBuiltinPlugin } from '../plugins/builtin.ts';
import { BodyValidator } from './body.ts';
import { Schemas } from './schemas/schemas.ts';

const mock = loadBuiltinPlugin('mock');
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const open = (properties: object) => ({ type: 'object', required: ['type'], properties });
const Cat = open({ type: { type: 'string' }, age: { type: 'integer' } });
const Dog = open({ type: { type: 'string' }, bark: { type: 'boolean' } });

/** Null for a body that is valid; else the reasons. */
async function checkOf(schema: object, schemas: object = { Cat, Dog }, openapi = '3.1.0') {
  const content = { 'application/json': { schema } };
  const post = { requestBody: { required: true, content }, responses: {}, 'x-gw-dispatch': { name: 'mock' } };
  const document = { openapi, info: { title: 'T', version: '1' }, components: { schemas }, paths: { '/a': { post } } };
  const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const result = await compile({ specs: ['a.json'], files, plugins: [mock], flags: { sourceDateEpoch: 0 } });
  if (!result.ok) throw new Error(result.diagnostics.map(({ message }) => message).join());
  const { routes } = await readArtifact(result.artifact);
  const body = routes.operations[0]?.request_body;
  if (!body) throw new Error('no body');
  const validator = new BodyValidator(body, new Schemas(routes.schemas, false));
  return (value: unknown) => {
    const fault = validateNow(validator, 'application/json', Buffer.from(JSON.stringify(value)));
    return fault?.kind === 'invalid' ? fault.errors.map(({ reason }) => reason) : fault;
  };
}

const mapping = { cat: '#/components/schemas/Cat', dog: 'Dog' };

describe('a discriminator', () => {
  it.each(['oneOf', 'anyOf'])('selects a branch of %s, though another fits as well', async (keyword) => {
    const check = await checkOf({
      [keyword]: [ref('Cat'), ref('Dog')],
      discriminator: { propertyName: 'type', mapping },
    });
    expect(check({ type: 'cat', age: 1 })).toBeNull();
    expect(check({ type: 'cat', age: 1, bark: 'loud' })).toBeNull();
    expect(check({ type: 'cat', age: 'x' })).toContain('must be integer');
    expect(check({ type: 'dog', age: 'x' })).toBeNull();
    expect(check({ type: 'dog', bark: 'x' })).toContain('must be boolean');
  });

  it('refuses other names and none with those that it knows, and what is no object', async () => {
    const check = await checkOf({ oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'type', mapping } });
    const known = ['must have a "type" of "cat", "Cat", "dog", "Dog"'];
    expect(check({ type: 'cow' })).toEqual(known);
    expect(check({})).toEqual(known);
    expect(check({ type: 7 })).toEqual(known);
    expect(check('cat')).toEqual(['must be object']);
    expect(check(null)).toEqual(['must be object']);
  });

  it.each([
    ['3.1.0', { oneOf: [ref('Cat'), ref('Dog'), { type: 'null' }], discriminator: { propertyName: 'type', mapping } }],
    ['3.0.3', { oneOf: [ref('Cat'), ref('Dog')], nullable: true, discriminator: { propertyName: 'type', mapping } }],
  ])('leaves null to a union of OpenAPI %s that has it', async (version, schema) => {
    const check = await checkOf(schema, { Cat, Dog }, version);
    expect(check(null)).toBeNull();
    expect(check({ type: 'cat', age: 1 })).toBeNull();
    expect(check({ type: 'cat', age: 'x' })).not.toBeNull();
    expect(check({ type: 'cow' })).not.toBeNull();
    expect(check(7)).not.toBeNull();
  });

  it('has the default of OpenAPI 3.2 take other names and none', async () => {
    const discriminator = { propertyName: 'type', mapping, defaultMapping: 'Dog' };
    const check = await checkOf(
      { oneOf: [ref('Cat'), ref('Dog')], discriminator },
      { Cat, Dog: { ...Dog, required: [] } },
      '3.2.0',
    );
    expect(check({ type: 'cow', bark: true })).toBeNull();
    expect(check({ bark: true })).toBeNull();
    expect(check({ bark: 'x' })).toContain('must be boolean');
    expect(check({ type: 'cat', bark: 'x' })).toBeNull();
  });
});
