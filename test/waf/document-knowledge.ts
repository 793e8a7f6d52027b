/**
 * Shows what a document changes about the verdicts on the rule set's tests. Declares each argument of each request in
 * turn: first as a name whose values may be anything, then with each of some schemas. Prints verdicts that differ because
 * the document has the name, and those that differ from them because it proves the value:
 * `node test/waf/document-knowledge.ts --program PATH [--sample]`, the path of the native engine.
 */
import { parseArgs } from 'node:util';
import type { DescribedInputs, FormField, Json, JsonObject, Parameter } from '../../gateway/features/kit.ts';
import { proofsOf } from '../../gateway/features/waf/host/proofs.ts';
import { Schemas } from '../../gateway/src/validation/schemas/schemas.ts';
import { readAs } from '../../gateway/src/validation/styles/text.ts';
import { readCorpus, sampleOf, splitRequest } from './corpus.ts';
import { DETECTS, ruleSetProgram, transactionFrame } from './frames.ts';
import { askFrames } from './native-engine.ts';
import type { OracleRequest } from './oracle.ts';
import { answerOf } from './upstream.ts';

/** A declaration of the name alone. */
const NAME = 'name';

const SCHEMAS: { readonly [title: string]: { readonly type: string } & JsonObject } = {
  [NAME]: { type: 'string' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  uuid: { type: 'string', format: 'uuid' },
  'date-time': { type: 'string', format: 'date-time' },
  digits: { type: 'string', pattern: '^[0-9]+$' },
  pattern: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
};
const VALIDATORS = new Schemas(SCHEMAS, false);

type Place = 'query' | 'header' | 'cookie' | 'form' | 'json';

/** A name of a request, and the texts that it has there. */
interface Argument {
  readonly place: Place;
  /** Of members of JSON the names on the way to it; null is an index. */
  readonly path: readonly (string | null)[];
  readonly values: readonly string[];
}

class Arguments {
  readonly #found = new Map<string, { place: Place; path: readonly (string | null)[]; values: string[] }>();

  add(place: Place, path: readonly (string | null)[], value: string): void {
    const key = JSON.stringify([place, path]);
    const known = this.#found.get(key);
    if (known === undefined) this.#found.set(key, { place, path, values: [value] });
    else known.values.push(value);
  }

  get all(): readonly Argument[] {
    return [...this.#found.values()];
  }
}

function argumentsOf({ target, headers, body }: OracleRequest): readonly Argument[] {
  const found = new Arguments();
  const query = target.split('#')[0]?.split('?').slice(1).join('?') ?? '';
  for (const [name, value] of new URLSearchParams(query)) found.add('query', [name], value);
  for (const [name, value] of headers) {
    found.add('header', [name.toLowerCase()], value);
    if (name.toLowerCase() !== 'cookie') continue;
    for (const pair of value.split(';')) {
      const [key = '', ...rest] = pair.trim().split('=');
      found.add('cookie', [key], rest.join('='));
    }
  }
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (/^application\/(?:[a-z0-9.-]+\+)?json/i.test(type)) {
    const value = parsed(body);
    if (value !== undefined) addMembers(found, [], value);
  } else if (/^multipart/i.test(type)) {
    const parts = body
      .toString()
      .matchAll(/name="?([^";\r\n]*)"?[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n([\s\S]*?)\r?\n--/g);
    for (const [, name = '', value = ''] of parts) found.add('form', [name], value);
  } else for (const [name, value] of new URLSearchParams(body.toString())) found.add('form', [name], value);
  return found.all;
}

function parsed(body: Buffer): Json | undefined {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function addMembers(found: Arguments, path: readonly (string | null)[], value: Json): void {
  if (Array.isArray(value)) for (const each of value) addMembers(found, [...path, null], each);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) addMembers(found, [...path, name], each);
  } else found.add('json', path, String(value));
}

/** A document with one argument. */
function inputsOf({ place, path }: Argument, title: string): DescribedInputs {
  const [name = ''] = path;
  const types = [SCHEMAS[title]?.type ?? ''];
  const reference: Json = { $ref: `gw:${title}` };
  const field: FormField = { name: name ?? '', style: 'form', explode: true, types };
  const inputs = { parameters: [], body: null, schemas: SCHEMAS };
  if (place === 'json') return { ...inputs, body: bodyOf('application/json', schemaAt(path, reference), []) };
  if (place === 'form') {
    return { ...inputs, body: bodyOf('multipart/form-data', schemaAt(path, reference), [field]) };
  }
  const style = place === 'header' ? 'simple' : 'form';
  const parameter: Parameter = { ...field, in: place, style, required: false, schema: { $ref: `gw:${title}` } };
  return { ...inputs, parameters: [parameter] };
}

function bodyOf(type: string, schema: Json, fields: readonly FormField[]): DescribedInputs['body'] {
  // A schema in place of a reference to it.
  return { required: true, content: { [type]: { schema: schema as never, fields } } };
}

function schemaAt(path: readonly (string | null)[], leaf: Json): Json {
  return path.reduceRight<Json>(
    (inner, name) =>
      name === null ? { type: 'array', items: inner } : { type: 'object', properties: { [name]: inner } },
    leaf,
  );
}

function isValid(values: readonly string[], title: string): boolean {
  const validate = VALIDATORS.validator({ $ref: `gw:${title}` });
  return values.every((text) => validate(readAs(text, [SCHEMAS[title]?.type ?? ''])) === null);
}

const { values: options } = parseArgs({
  options: { program: { type: 'string' }, sample: { type: 'boolean', default: false } },
});
if (options.program === undefined) throw new Error('--program is missing');

const corpus = await readCorpus();
const requests = (options.sample ? sampleOf(corpus) : corpus).flatMap(({ id, stages }) =>
  stages.flatMap(({ raw }, index): OracleRequest[] => {
    const parts = splitRequest(raw);
    return parts === null ? [] : [{ id: `${id}.${index}`, ...parts, response: answerOf(parts) }];
  }),
);

interface Variant {
  readonly request: OracleRequest;
  /** Null: the document knows nothing. */
  readonly declared: { readonly argument: Argument; readonly title: string } | null;
}

function variantsOf(request: OracleRequest): Variant[] {
  const declared = argumentsOf(request).flatMap((argument) =>
    Object.keys(SCHEMAS).map((title) => ({ request, declared: { argument, title } })),
  );
  return [{ request, declared: null }, ...declared];
}

function frameOf({ request, declared }: Variant): Uint8Array {
  if (declared === null) return transactionFrame(request, DETECTS);
  const proofs = proofsOf('', inputsOf(declared.argument, declared.title));
  return transactionFrame(request, { ...DETECTS, proofs });
}

const NO_COUNT = { declared: 0, valid: 0, changed: 0, changedValid: 0 };
/** Requests whose verdicts are asked for at once: bodies take up memory. */
const AT_ONCE = 300;

interface Count {
  declared: number;
  /** Values that validation lets through. */
  valid: number;
  changed: number;
  changedValid: number;
}

const counts = new Map(Object.keys(SCHEMAS).map((title): [string, Count] => [title, { ...NO_COUNT }]));
const program = ruleSetProgram('regression');
for (let from = 0; from < requests.length; from += AT_ONCE) {
  const variants = requests.slice(from, from + AT_ONCE).flatMap(variantsOf);
  const verdicts = askFrames(options.program, program, variants.map(frameOf));
  let undeclared: readonly number[] = [];
  let named: readonly number[] = [];
  for (const [index, { request, declared }] of variants.entries()) {
    const ids = verdicts[index]?.matches.map(({ id }) => id) ?? [];
    if (declared === null) undeclared = ids;
    else compare(request, declared, declared.title === NAME ? undeclared : named, ids);
    if (declared?.title === NAME) named = ids;
  }
}
console.log(JSON.stringify({ requests: requests.length, ...Object.fromEntries(counts) }));

function compare(
  { id }: OracleRequest,
  { argument, title }: NonNullable<Variant['declared']>,
  before: readonly number[],
  ids: readonly number[],
): void {
  const count = counts.get(title) ?? { ...NO_COUNT };
  const valid = isValid(argument.values, title);
  count.declared++;
  if (valid) count.valid++;
  if (ids.join(' ') === before.join(' ')) return;
  count.changed++;
  if (valid) count.changedValid++;
  const lost = before.filter((each) => !ids.includes(each));
  const name = `${argument.place} ${argument.path.map((part) => part ?? '*').join('.')}`;
  const values = JSON.stringify(argument.values).slice(0, 200);
  console.log(`${id}: ${name} as ${title}${valid ? '' : ' (invalid)'}: ${values} loses ${lost.join(' ')}`);
}
