/**
 * The regression tests of the OWASP Core Rule Set 4.25.0 (`crs-tests.tar.gz`, from the Go module
 * `github.com/corazawaf/coraza-coreruleset/v4`, Apache-2.0) and of its exclusion packages (`exclusion-tests.tar.gz`, from
 * the folders `tests/regression` of the commits in `gateway/features/waf/crs/NOTICE`, Apache-2.0; a folder for each
 * package): YAML files in the form of go-ftw. Each case is the bytes of requests with what an engine must find in them,
 * for any engine that takes raw requests.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { loadAll } from 'js-yaml';
import { extract } from 'tar-stream';

/** One test: requests that are sent one after the other. */
export interface CorpusCase {
  /** Rule and number, such as `920100-4`. */
  readonly id: string;
  readonly rule: number;
  readonly title: string;
  /** Path of its file below the folder of the tests. */
  readonly file: string;
  readonly stages: readonly CorpusStage[];
}

interface CorpusStage {
  /** The request as it goes over the wire. */
  readonly raw: Buffer;
  readonly expects: Expectation;
}

/** What must be true of one request. */
export interface Expectation {
  /** Rules that must log a match. */
  readonly ids: readonly number[];
  /** Rules that must not. */
  readonly noIds: readonly number[];
  /** Patterns that a line of the log must have, or must not have. */
  readonly matches: readonly RegExp[];
  readonly noMatches: readonly RegExp[];
  /** Status that the server in front of the engine must answer with, for requests that it refuses itself. */
  readonly status: number | null;
  /** The server may close the connection without an answer. */
  readonly error: boolean;
}

/** The outcome of a request, as an engine reports it. */
export interface EngineResult {
  /** Rules whose matches were logged, in order. */
  readonly ids: readonly number[];
  /** Lines of the log; null if the engine keeps none. */
  readonly log: readonly string[] | null;
  /** Status that the client got; null if the engine ran without a server. */
  readonly status: number | null;
}

/** A request in its parts, as a lenient server reads it. */
export interface RequestParts {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** Requests are sent with these unless a test says otherwise (go-ftw). */
const DEFAULTS = { method: 'GET', uri: '/', version: 'HTTP/1.1' };
const FORM = 'application/x-www-form-urlencoded';
const WITH_BODY = /^POST|PUT|PATCH|DELETE$/;

/** Every how many-th case stands for all of them when engines are compared. */
const SAMPLE_STEP = 10;

const ARCHIVES = { core: 'crs-tests.tar.gz', exclusions: 'exclusion-tests.tar.gz' };

/** Reads all cases, in the order of their file names. Rejects if a file is not of this form. */
export async function readCorpus(of: keyof typeof ARCHIVES = 'core'): Promise<CorpusCase[]> {
  const archive = createReadStream(join(import.meta.dirname, ARCHIVES[of]));
  const cases: CorpusCase[] = [];
  for await (const entry of archive.pipe(createGunzip()).pipe(extract())) {
    const { name } = entry.header;
    const text = (await buffer(entry)).toString();
    if (name.endsWith('.yaml')) cases.push(...casesOf(name, text));
  }
  return cases;
}

/** Returns every tenth case, the same ones each time. */
export function sampleOf(cases: readonly CorpusCase[]): CorpusCase[] {
  return cases.filter((_, index) => index % SAMPLE_STEP === 0);
}

function casesOf(file: string, text: string): CorpusCase[] {
  // Some files have nothing but comments.
  const document = record(loadAll(text)[0]);
  const rule = Number(document['rule_id'] ?? /(\d+)\.yaml$/.exec(file)?.[1]);
  return list(document['tests']).map((entry) => {
    const test = record(entry);
    return {
      id: `${rule}-${test['test_id'] ?? String(test['test_title']).replace(/^.*-/, '')}`,
      rule,
      title: String(test['desc'] ?? '').trim(),
      file,
      stages: list(test['stages']).map((stage) => {
        // Older tests have a level more.
        const { input, output } = record(record(stage)['stage'] ?? stage);
        return { raw: requestOf(record(input)), expects: expectationOf(record(output)) };
      }),
    };
  });
}

function expectationOf(output: Fields): Expectation {
  const log = record(output['log']);
  const absent = /^id "(\d+)"$/.exec(String(output['no_log_contains'] ?? ''))?.[1];
  const patterns = (value: unknown) => (value === undefined ? [] : [new RegExp(String(value), 's')]);
  return {
    ids: list(log['expect_ids']).map(Number),
    noIds: [...list(log['no_expect_ids']), ...(absent === undefined ? [] : [absent])].map(Number),
    matches: patterns(log['match_regex']),
    noMatches: patterns(log['no_match_regex']),
    status: output['status'] === undefined ? null : Number(output['status']),
    error: output['expect_error'] === true,
  };
}

/** Builds the request that go-ftw sends for an input. */
function requestOf(input: Fields): Buffer {
  if (typeof input['encoded_request'] === 'string') return Buffer.from(input['encoded_request'], 'base64');
  const { method, uri, version } = { ...DEFAULTS, ...input };
  const complete = input['autocomplete_headers'] !== false && input['stop_magic'] !== true;
  const headers = headersOf(input);
  const valuesOf = (name: string) => headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
  let data = dataOf(input);
  if (data.length > 0 && complete) {
    if (valuesOf('content-type').length === 0) headers.push(['Content-Type', FORM]);
    if (valuesOf('content-type').some((value) => value.toLowerCase() === FORM)) data = encodeForm(data);
  }
  if (valuesOf('content-type').some((value) => value.toLowerCase().includes('multipart/form-data;'))) {
    data = Buffer.from(data.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
  }
  if (complete) {
    if (valuesOf('connection').length === 0) headers.push(['Connection', 'close']);
    const needsLength = data.length > 0 || WITH_BODY.test(String(method));
    if (needsLength && valuesOf('content-length').length === 0) headers.push(['Content-Length', String(data.length)]);
  }
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${uri} ${version}\r\n${head}\r\n`), data]);
}

function headersOf(input: Fields): [string, string][] {
  const ordered = input['ordered_headers'] ?? input['headers'];
  if (Array.isArray(ordered)) {
    return ordered.map((entry) => [String(record(entry)['name']), String(record(entry)['value'] ?? '')]);
  }
  return Object.entries(record(ordered)).map(([name, value]) => [name, String(value ?? '')]);
}

/** Returns the body, with the one function of templates evaluated that these tests use. */
function dataOf(input: Fields): Buffer {
  if (typeof input['encoded_data'] === 'string') return Buffer.from(input['encoded_data'], 'base64');
  const { data } = input;
  if (data === undefined || data === null) return Buffer.alloc(0);
  const text = String(data).replaceAll(/\{\{ *"([^"]*)" *\| *repeat +(\d+) *\}\}/g, (_, unit: string, times: string) =>
    unit.repeat(Number(times)),
  );
  return Buffer.from(text);
}

/** Encodes names and values of a form, unless it is encoded already, as go-ftw guesses it. */
function encodeForm(data: Buffer): Buffer {
  const text = data.toString('latin1');
  const decoded = queryUnescape(text);
  // A text that cannot be decoded, or changes when it is, goes out as it is.
  if (decoded !== text) return data;
  const encoded = text.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    if (equals === -1) return queryEscape(pair);
    return `${queryEscape(pair.slice(0, equals))}=${queryEscape(pair.slice(equals + 1))}`;
  });
  return Buffer.from(encoded.join('&'), 'latin1');
}

/** Decodes as Go's `url.QueryUnescape`; returns an empty text where that fails. */
function queryUnescape(text: string): string {
  if (/%(?![0-9a-f]{2})/i.test(text)) return '';
  return text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Encodes bytes, one a character, as Go's `url.QueryEscape`. */
function queryEscape(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.~-]/g, (byte) =>
    byte === ' ' ? '+' : `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/**
 * Splits a request as a lenient server does: anything is a method, a target or a header, and the body has the length
 * that its head says. Returns null if the request line has not three parts, or if the length cannot be read.
 */
export function splitRequest(raw: Buffer): RequestParts | null {
  const text = raw.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text);
  const head = text.slice(0, end?.index ?? text.length);
  const rest = raw.subarray(end === null ? raw.length : end.index + end[0].length);
  const [line = '', ...lines] = head.split(/\r?\n/);
  const request = /^(\S+) (.*) (\S+)$/.exec(line);
  if (request === null) return null;
  const headers = lines.map((header): [string, string] => {
    const colon = header.indexOf(':');
    if (colon === -1) return [header, ''];
    return [header.slice(0, colon).trim(), header.slice(colon + 1).trim()];
  });
  const body = bodyOf(headers, rest);
  if (body === null) return null;
  const [, method = '', target = '', version = ''] = request;
  return { method, target, version, headers, body };
}

function bodyOf(headers: readonly (readonly [string, string])[], rest: Buffer): Buffer | null {
  const header = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
  if (/chunked/i.test(header('transfer-encoding') ?? '')) return unchunk(rest);
  const length = header('content-length');
  if (length === undefined) return rest.subarray(0, 0);
  return /^\d+$/.test(length) ? rest.subarray(0, Number(length)) : null;
}

function unchunk(bytes: Buffer): Buffer | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (end === -1 || Number.isNaN(size)) return null;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** Returns why a result is not what was expected; null if it is. */
export function differenceOf(expects: Expectation, { ids, log, status }: EngineResult): string | null {
  const missing = expects.ids.filter((id) => !ids.includes(id));
  if (missing.length > 0) return `did not match ${missing.join(', ')}`;
  const extra = expects.noIds.filter((id) => ids.includes(id));
  if (extra.length > 0) return `matched ${extra.join(', ')}`;
  if (log !== null) {
    const text = log.join('\n');
    const absent = expects.matches.find((pattern) => !pattern.test(text));
    if (absent) return `logged nothing like ${absent.source}`;
    const present = expects.noMatches.find((pattern) => pattern.test(text));
    if (present) return `logged ${present.source}`;
  }
  if (expects.status !== null && status !== null && expects.status !== status) {
    return `status ${status} instead of ${expects.status}`;
  }
  return null;
}

/** Reports whether the server in front of an engine decides about a request, and no rule. */
export function isForServer({ ids, noIds, matches, noMatches, status, error }: Expectation): boolean {
  return (status !== null || error) && ids.length + noIds.length + matches.length + noMatches.length === 0;
}

type Fields = Readonly<Record<string, unknown>>;

function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
