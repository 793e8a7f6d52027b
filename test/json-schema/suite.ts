/**
 * The official JSON-Schema-Test-Suite: its tests, optional ones included, and its remote documents as of
 * 44401e0c (2026-08-22), a group of tests a line. Draft 7 is what AsyncAPI goes by. Each group's schema is a file of a project, which an operation's body refers to; the remotes are
 * further files, found by their `$id`, since nothing is fetched (docs/decisions.md#references-stay-inside).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readArtifact } from '../../gateway/src/artifact/read.ts';
import { compile } from '../../gateway/src/compiler/index.ts';
import { parseExactly } from '../../gateway/src/json/exact-json.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { isObject } from '../../gateway/src/spec/json.ts';
import { BodyValidator } from '../../gateway/src/validation/body.ts';
import { Schemas } from '../../gateway/src/validation/schemas/schemas.ts';
import { validateNow } from '../validate-now.ts';

export type Draft = 'draft4' | 'draft7' | 'draft2020-12';

export interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

/** How OpenAPI names the dialect. */
const OPENAPI: Readonly<Record<Exclude<Draft, 'draft7'>, string>> = { draft4: '3.0.4', 'draft2020-12': '3.1.1' };
const mock = loadBuiltinPlugin('mock');
const folder = join(import.meta.dirname, 'suite');

/** Groups by keyword, as the suite's files have them. */
export function suiteOf(draft: Draft): ReadonlyMap<string, readonly Group[]> {
  return new Map(
    Object.entries(
      parseExactly(readFileSync(join(folder, `${draft}.json`), 'utf8')) as Record<string, readonly Group[]>,
    ),
  );
}

interface File {
  readonly name: string;
  readonly bytes: Uint8Array;
}

function fileOf(name: string, value: unknown): File {
  return { name, bytes: Buffer.from(JSON.stringify(value)) };
}

/** The remote documents as files that say what their address is; one that says otherwise gets a second one. */
export function remotesOf(draft: Draft): readonly File[] {
  const remotes: unknown = JSON.parse(readFileSync(join(folder, `${draft}-remotes.json`), 'utf8'));
  return Object.entries(isObject(remotes) ? remotes : {}).flatMap(([uri, schema], i) => {
    const name = `remotes/${i}.json`;
    const own = isObject(schema) && typeof schema['$id'] === 'string' ? schema['$id'] : undefined;
    if (own === undefined || own.replace(/#$/, '') === uri)
      return [fileOf(name, isObject(schema) ? { ...schema, $id: uri } : schema)];
    return [fileOf(name, schema), fileOf(`remotes/${i}-as.json`, { $id: uri, $ref: own })];
  });
}

const info = { title: 'suite', version: '1' };

/** Of messages that are published, whose payload is the schema. */
function asyncDocument(): object {
  const one = {
    address: '/',
    messages: { one: { contentType: 'application/json', payload: { $ref: 'schema.json' } } },
  };
  const publish = { action: 'send', channel: { $ref: '#/channels/one' }, 'x-gw-dispatch': { name: 'mock' } };
  return { asyncapi: '3.0.0', info, channels: { one }, operations: { publish } };
}

/** Rejects with the diagnostics where the schema does not compile. */
export async function validatorOf(schema: unknown, draft: Draft, remotes: readonly File[]) {
  const content = { 'application/json': { schema: { $ref: 'schema.json' } } };
  const post = { requestBody: { required: true, content }, responses: {}, 'x-gw-dispatch': { name: 'mock' } };
  const document = draft === 'draft7' ? asyncDocument() : { openapi: OPENAPI[draft], info, paths: { '/': { post } } };
  const files = [fileOf('api.json', document), fileOf('schema.json', schema), ...remotes];
  const result = await compile({ specs: ['api.json'], files, plugins: [mock], flags: { sourceDateEpoch: 0 } });
  if (!result.ok) throw new Error(result.diagnostics.map(({ code, message }) => `${code} ${message}`).join('; '));
  const { routes } = await readArtifact(result.artifact);
  const body = routes.operations[0]?.request_body;
  if (!body) throw new Error('the operation has no body');
  const validator = new BodyValidator(body, new Schemas(routes.schemas, false));
  return (data: unknown): boolean =>
    validateNow(validator, 'application/json', Buffer.from(JSON.stringify(data))) === null;
}

/** Keywords of draft 4 that OpenAPI 3.0's Schema Object leaves out (3.0.4, section 4.7.24), and reference by `id`. */
const NOT_IN_30 = ['patternProperties', 'dependencies', 'additionalItems', 'definitions', 'id', '$schema'];

/** Whether a schema of draft 4 uses what OpenAPI 3.0 does not have. */
export function isOutside30(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isOutside30);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(
    ([name, value]) =>
      NOT_IN_30.includes(name) ||
      (name === 'type' && (Array.isArray(value) || value === 'null')) ||
      (name === 'items' && Array.isArray(value)) ||
      isOutside30(value),
  );
}
