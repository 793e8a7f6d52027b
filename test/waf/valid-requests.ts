/** Valid requests for the operations of a document, the same in each run. */

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type DescribedInputs, isObject, type Json, type Parameter } from '../../gateway/features/kit.ts';
import type { Operation, RoutesFile } from '../../gateway/src/artifact/format.ts';
import { readArtifact } from '../../gateway/src/artifact/read.ts';
import type { ToolBody } from '../../gateway/src/artifact/tools.ts';
import { compile } from '../../gateway/src/compiler/index.ts';
import { Random } from '../../gateway/src/examples/random.ts';
import { ValueMaker } from '../../gateway/src/examples/valid-value.ts';
import { isJson } from '../../gateway/src/headers/media-type.ts';
import { ToolFault } from '../../gateway/src/mcp/tool-fault.ts';
import { type WrittenBody, writeBody } from '../../gateway/src/mcp/write-body.ts';
import { cookiePairs, headerText, pathText, percentEncoded, queryPairs } from '../../gateway/src/mcp/write-styles.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { parseText } from '../../gateway/src/spec/parse.ts';
import { BodyValidator } from '../../gateway/src/validation/body.ts';
import { ParameterValidator } from '../../gateway/src/validation/parameters.ts';
import { Schemas } from '../../gateway/src/validation/schemas/schemas.ts';
import { documentTexts } from './document-texts.ts';
import type { OracleRequest } from './oracle.ts';
import { RealisticTexts } from './realistic-texts.ts';

export interface ValidRequest {
  readonly operation: Operation;
  readonly inputs: DescribedInputs;
  readonly request: OracleRequest;
}

export interface ValidRequests {
  readonly requests: readonly ValidRequest[];
  /** Operations in the sample. */
  readonly operations: number;
  /** Requests that could not be made, or that gw would refuse. */
  readonly failed: number;
}

interface RequestOptions {
  readonly operations: number;
  /** For each operation. */
  readonly requests: number;
  /** With texts that look like attacks. */
  readonly hasLookalikes: boolean;
}

/** Texts of one value that are replaced: each of them is validated again. */
const MOST_TEXTS = 40;

/** Throws if the document cannot be compiled. */
export async function validRequests(path: string, options: RequestOptions): Promise<ValidRequests> {
  const bytes = readFileSync(path);
  const routes = await routesOf(basename(path), bytes);
  const parsed = parseText(bytes);
  const texts = new RealisticTexts(documentTexts(parsed.ok ? parsed.value : null), options.hasLookalikes);
  const maker = new RequestMaker(routes, texts);
  // Some documents tell operations apart by a fragment, which no client sends.
  const reachable = routes.operations.filter((each) => !/[#?]/.test(each.path));
  const step = Math.max(1, reachable.length / options.operations);
  const sample = reachable.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  const requests: ValidRequest[] = [];
  for (const operation of sample) {
    for (let i = 0; i < options.requests; i++) {
      const made = await maker.make(operation, `${basename(path)} ${operation.method} ${operation.path} ${i}`, i);
      if (made !== null) requests.push(made);
    }
  }
  return { requests, operations: sample.length, failed: sample.length * options.requests - requests.length };
}

async function routesOf(name: string, bytes: Uint8Array): Promise<RoutesFile> {
  // Files that are named `openapi` are the project's.
  const spec = `document-${name}`;
  const flags = { mock: true, leaveOut: true };
  const project = { specs: [spec], files: [{ name: spec, bytes }], plugins: [loadBuiltinPlugin('mock')], flags };
  const result = await compile(project, { loadsPlugins: false });
  if (result.ok) return (await readArtifact(result.artifact)).routes;
  const [fault] = result.diagnostics.filter(({ severity }) => severity === 'error');
  throw new Error(`${fault?.code}: ${fault?.message}`);
}

class RequestMaker {
  readonly #table: RoutesFile['schemas'];
  readonly #schemas: Schemas;
  readonly #maker: ValueMaker;
  readonly #texts: RealisticTexts;

  constructor({ schemas }: RoutesFile, texts: RealisticTexts) {
    this.#table = schemas;
    this.#schemas = new Schemas(schemas, false);
    this.#maker = new ValueMaker(schemas, this.#schemas);
    this.#texts = texts;
  }

  /** `turn`: the first request of an operation has all parameters, others the required ones and some. */
  async make(operation: Operation, seed: string, turn: number): Promise<ValidRequest | null> {
    const random = new Random(seed);
    const { parameters, request_body: described, path, method } = operation;
    const parts = {
      path: new Map<string, string>(),
      query: [] as string[],
      headers: [] as string[],
      cookies: [] as string[],
    };
    for (const parameter of parameters) {
      const isWanted = parameter.required || turn === 0 || random.below(2) === 0;
      if (isWanted && !this.#write(parameter, parts, random) && parameter.required) return null;
    }
    const body = described === undefined ? null : this.#body(operation, random, turn);
    if (body === null && described?.required) return null;
    const target = targetOf(path, parts.path, parts.query);
    const pairs = headersOf(parts, body, method, random);
    const request: OracleRequest = {
      ...{ id: seed, method, target, version: 'HTTP/1.1', headers: pairs, body: body?.bytes ?? Buffer.alloc(0) },
      response: null,
    };
    const inputs = { parameters, body: described ?? null, schemas: this.#table };
    return (await this.#isValid(operation, parts.path, request)) ? { operation, inputs, request } : null;
  }

  /** Reports whether a value was found. */
  #write(parameter: Parameter, parts: Parts, random: Random): boolean {
    const made = this.#valueOf(parameter, random);
    if (made === undefined) return false;
    for (const value of this.#realistic(parameter, made, random)) {
      try {
        writeParameter(parameter, value, parts);
        return true;
      } catch (error) {
        if (!(error instanceof ToolFault)) throw error;
      }
    }
    return false;
  }

  #valueOf({ schema }: Parameter, random: Random): Json | undefined {
    if (schema === undefined) return 'amber';
    const { value, valid } = this.#maker.make(schema, random.hex(8));
    return valid ? value : undefined;
  }

  /** The value with other texts, and as it was made. */
  #realistic({ name, in: place, schema }: Parameter, made: Json, random: Random): readonly Json[] {
    const admits = (value: Json) => schema === undefined || this.#maker.isValid(schema, value);
    const text = (each: string) =>
      place === 'path' ? this.#texts.pathText(each, random) : this.#texts.text(each, random);
    return [withTexts(made, name, text, admits), made];
  }

  #body(operation: Operation, random: Random, turn: number): WrittenBody | null {
    const content = Object.entries(operation.request_body?.content ?? {}).filter(([type]) => encodingOf(type) !== null);
    const [type, media] = content[turn % content.length] ?? [];
    if (type === undefined || media === undefined) return null;
    const { schema } = media;
    const made =
      schema === undefined ? { value: { name: 'amber' }, valid: true } : this.#maker.make(schema, random.hex(8));
    if (!made.valid || made.value === undefined) return null;
    const admits = (value: Json) => schema === undefined || this.#maker.isValid(schema, value);
    const text = (name: string) => this.#texts.text(name, random);
    const body: ToolBody = { content_type: type, encoding: encodingOf(type) ?? 'json', required: true };
    try {
      return withBoundary(writeBody(body, operation, withTexts(made.value, 'body', text, admits)), random);
    } catch (error) {
      if (!(error instanceof ToolFault)) throw error;
      return null;
    }
  }

  /** Asks the gateway's own validators. */
  async #isValid(
    { parameters, path, request_body: described }: Operation,
    params: Parts['path'],
    request: OracleRequest,
  ) {
    const query = request.target.includes('?') ? request.target.slice(request.target.indexOf('?') + 1) : undefined;
    const headers = request.headers.flatMap(([name, value]) => [name.toLowerCase(), value]);
    const raw = [...path.matchAll(/\{([^{}+]+)\+?\}/g)].map(([, name = '']) => params.get(name) ?? '');
    const source = { query, headers, patternSteps: 0 };
    if (new ParameterValidator(parameters, path, this.#schemas).validate(source, raw, false) !== null) return false;
    if (described === undefined || request.body.length === 0) return true;
    const type = headers[headers.indexOf('content-type') + 1];
    const asker = { clientIp: '127.0.0.1', authenticated: true, wanted: () => true };
    return (await new BodyValidator(described, this.#schemas).validate(type, request.body, asker)) === null;
  }
}

interface Parts {
  /** Encoded, by name. */
  readonly path: Map<string, string>;
  readonly query: string[];
  /** Names and values in turn. */
  readonly headers: string[];
  readonly cookies: string[];
}

function writeParameter(parameter: Parameter, value: Json, parts: Parts): void {
  switch (parameter.in) {
    case 'path':
      parts.path.set(parameter.name, pathText(parameter, value, false));
      break;
    case 'query':
      parts.query.push(...queryPairs(parameter, value));
      break;
    case 'header':
      parts.headers.push(parameter.name, headerText(parameter, value));
      break;
    case 'cookie':
      parts.cookies.push(...cookiePairs(parameter, value));
      break;
    case 'querystring':
      parts.query.push(percentEncoded(JSON.stringify(value)));
  }
}

function targetOf(template: string, params: Parts['path'], query: readonly string[]): string {
  const path = template.replace(/\{([^{}+]+)\+?\}/g, (_, name: string) => params.get(name) ?? 'amber');
  const encoded = path.replace(/[^\x21-\x7e]+/g, percentEncoded);
  return query.length === 0 ? encoded : `${encoded}?${query.join('&')}`;
}

/** Null: the type has a form of its own. */
function encodingOf(type: string): ToolBody['encoding'] | null {
  if (isJson(type) || type === '*/*') return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return type === 'multipart/form-data' ? 'multipart' : null;
}

/** The writer's boundary differs from run to run. */
function withBoundary({ contentType, bytes }: WrittenBody, random: Random): WrittenBody {
  const [, boundary] = /boundary=(.*)/.exec(contentType) ?? [];
  if (boundary === undefined) return { contentType, bytes };
  const own = `----WebKitFormBoundary${random.hex(16)}`;
  return {
    contentType: contentType.replace(boundary, own),
    bytes: Buffer.from(bytes.toString('latin1').replaceAll(boundary, own), 'latin1'),
  };
}

const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
];
const LANGUAGES = ['en-US,en;q=0.9', 'de-CH,de;q=0.9,en;q=0.8', 'ja', 'fr-FR,fr;q=0.9,en-US;q=0.8,en;q=0.7'];
const COOKIES = ['_ga=GA1.2.1234567890.1764345600', 'session=9f86d081884c7d659a2feaa0c55ad015', 'consent=yes'];

/** Headers as browsers send them, and those of parameters beside them. */
function headersOf(parts: Parts, body: WrittenBody | null, method: string, random: Random): [string, string][] {
  const declared = new Map<string, string>();
  for (let i = 0; i < parts.headers.length; i += 2) declared.set(parts.headers[i] ?? '', parts.headers[i + 1] ?? '');
  const cookies = [...COOKIES, ...parts.cookies].join('; ');
  const hasLength = body !== null || ['POST', 'PUT', 'PATCH'].includes(method);
  const usual: readonly (readonly [string, string])[] = [
    ['Host', 'api.example.com'],
    ['User-Agent', random.pick(AGENTS) ?? ''],
    ['Accept', random.below(2) === 0 ? 'application/json, text/plain, */*' : '*/*'],
    ['Accept-Language', random.pick(LANGUAGES) ?? ''],
    ['Accept-Encoding', 'gzip, deflate, br, zstd'],
    ['Referer', 'https://app.example.com/orders?page=2&sort=-date'],
    ['Origin', 'https://app.example.com'],
    ['Authorization', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1c3JfNDIiLCJzY29wZSI6InJlYWQifQ.c2lnbmF0dXJl'],
    ['Cookie', cookies],
    ['Sec-Fetch-Dest', 'empty'],
    ['Sec-Fetch-Mode', 'cors'],
    ['Sec-Fetch-Site', 'same-site'],
    ['Sec-CH-UA', '"Chromium";v="142", "Not_A Brand";v="99"'],
    ['Connection', 'keep-alive'],
    ...(hasLength ? ([['Content-Length', String(body?.bytes.length ?? 0)]] as const) : []),
    ...(body === null ? [] : ([['Content-Type', body.contentType]] as const)),
  ];
  const names = new Set(usual.map(([name]) => name.toLowerCase()));
  const others = [...declared].filter(([name]) => !names.has(name) && !/^content-(?:type|length)$/.test(name));
  return [...usual, ...others].map(([name, value]) => [name, value]);
}

/** Replaces texts, one after the other, where the value stays valid. `text`: by the name of the nearest member. */
function withTexts(value: Json, name: string, text: (name: string) => string, admits: (value: Json) => boolean): Json {
  let current = value;
  for (const { path, name: own } of placesOf(value, [], name).slice(0, MOST_TEXTS)) {
    const changed = replaced(current, path, text(own));
    if (admits(changed)) current = changed;
  }
  return current;
}

type Path = readonly (string | number)[];

/** Places of texts. */
function placesOf(value: Json, path: Path, name: string): { readonly path: Path; readonly name: string }[] {
  if (typeof value === 'string') return [{ path, name }];
  if (Array.isArray(value)) return value.flatMap((each: Json, i) => placesOf(each, [...path, i], name));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => placesOf(each as Json, [...path, key], key));
}

function replaced(value: Json, [first, ...rest]: Path, text: string): Json {
  if (first === undefined) return text;
  if (Array.isArray(value)) return value.map((each: Json, i) => (i === first ? replaced(each, rest, text) : each));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, each]) => [
    key,
    key === first ? replaced(each as Json, rest, text) : each,
  ]);
  return Object.fromEntries(members);
}
