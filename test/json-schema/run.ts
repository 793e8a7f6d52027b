/**
 * Runs the official JSON-Schema-Test-Suite against what requests are validated with, compiler included: each schema
 * is a file of a project that an operation's body refers to. By hand, since the suite is no dependency:
 * `node test/json-schema/run.ts FOLDER`, where FOLDER holds the suite's `tests`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readArtifact } from '../../gateway/src/artifact/read.ts';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { BodyValidator } from '../../gateway/src/validation/body.ts';
import { Schemas } from '../../gateway/src/validation/schemas.ts';

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

interface Count {
  passed: number;
  failed: number;
  /** Uses what OpenAPI 3.0 does not have. */
  outside: number;
  readonly failures: string[];
}

const mock = loadBuiltinPlugin('mock');

async function validatorOf(schema: unknown, openapi: string): Promise<(data: unknown) => boolean> {
  const content = { 'application/json': { schema: { $ref: 'schema.json' } } };
  const post = { requestBody: { required: true, content }, responses: {}, 'x-gw-dispatch': { name: 'mock' } };
  const document = { openapi, info: { title: 'suite', version: '1' }, paths: { '/': { post } } };
  const file = (name: string, value: unknown) => ({ name, bytes: Buffer.from(JSON.stringify(value)) });
  const files = [file('api.json', document), file('schema.json', schema)];
  const result = await compile({ specs: ['api.json'], files, plugins: [mock], flags: { sourceDateEpoch: 0 } });
  if (!result.ok) throw new Error(result.diagnostics.map(({ code, message }) => `${code} ${message}`).join('; '));
  const { routes } = await readArtifact(result.artifact);
  const body = routes.operations[0]?.request_body;
  if (!body) throw new Error('the operation has no body');
  const validator = new BodyValidator(body, new Schemas(routes.schemas, false));
  return (data) => validator.validate('application/json', Buffer.from(JSON.stringify(data))) === null;
}

/** Keywords of draft 4 that OpenAPI 3.0's Schema Object leaves out (3.0.3, section 4.7.24), and reference by `id`. */
const NOT_IN_30 = ['patternProperties', 'dependencies', 'additionalItems', 'definitions', 'id', '$schema'];

function isOutside30(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if (Array.isArray(schema)) return schema.some(isOutside30);
  return Object.entries(schema).some(
    ([name, value]) =>
      NOT_IN_30.includes(name) ||
      (name === 'type' && (Array.isArray(value) || value === 'null')) ||
      (name === 'items' && Array.isArray(value)) ||
      isOutside30(value),
  );
}

async function runFile(file: string, openapi: string): Promise<Count> {
  const groups: readonly Group[] = JSON.parse(readFileSync(file, 'utf8'));
  const count: Count = { passed: 0, failed: 0, outside: 0, failures: [] };
  for (const { description, schema, tests } of groups) {
    if (openapi === '3.0.3' && isOutside30(schema)) {
      count.outside += tests.length;
      continue;
    }
    let holds: (data: unknown) => boolean;
    try {
      holds = await validatorOf(schema, openapi);
    } catch (error) {
      count.failed += tests.length;
      count.failures.push(`${description}: ${String(error instanceof Error ? error.message : error).slice(0, 120)}`);
      continue;
    }
    for (const test of tests) {
      let verdict: boolean | string;
      try {
        verdict = holds(test.data);
      } catch (error) {
        verdict = String(error);
      }
      if (verdict === test.valid) count.passed++;
      else {
        count.failed++;
        count.failures.push(`${description}: ${test.description}: ${verdict}`.slice(0, 160));
      }
    }
  }
  return count;
}

async function runDraft(folder: string, draft: string, openapi: string): Promise<void> {
  const total = { passed: 0, failed: 0, outside: 0 };
  console.log(`${draft} as OpenAPI ${openapi}`);
  for (const part of ['', 'optional/format']) {
    const path = join(folder, draft, part);
    for (const name of readdirSync(path).filter((each) => each.endsWith('.json'))) {
      const { passed, failed, outside, failures } = await runFile(join(path, name), openapi);
      console.log(`| ${join(part, name.slice(0, -5))} | ${passed} | ${failed} | ${outside} |`);
      for (const each of failures) console.log(`    ${each}`);
      if (part !== '') continue;
      total.passed += passed;
      total.failed += failed;
      total.outside += outside;
    }
  }
  console.log('required:', total);
}

const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: node test/json-schema/run.ts FOLDER');
await runDraft(folder, 'draft4', '3.0.3');
await runDraft(folder, 'draft2020-12', '3.1.0');
