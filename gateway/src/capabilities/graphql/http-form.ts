/**
 * The place of a request of GraphQL over HTTP: a JSON body of a POST, or the URL's query of a GET. One of them only,
 * and each of its parts once: so any reader reads what was checked (docs/decisions.md#graphql-one-reading).
 */
import { type Exchange, headerOf } from '../../exchange.ts';
import { isUtf8, mediaTypeOf } from '../../headers/media-type.ts';
import { RepeatedMember } from '../../json/escaped-names.ts';
import { MOST_NESTING, nestsTooDeeply } from '../../json/nesting.ts';
import { parseOnce, parseTextOnce } from '../../json/parse-once.ts';
import { type GraphQLRequest, memberLike, readRequest } from './graphql-request.ts';
import { badRequest, Refused } from './refusal.ts';

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxBatch: number;
}

/** The requests of a client: one, or a list of them. */
export interface SentRequests {
  readonly requests: readonly GraphQLRequest[];
  readonly isBatch: boolean;
  /** The request came in the URL. */
  readonly byGet: boolean;
}

const MEDIA_TYPE = 'application/json';

/** The body must be in memory. Throws Refused. */
export function sentRequests(x: Exchange, limits: BodyLimits): SentRequests {
  if (x.method === 'GET') return { requests: [readRequest(fromUrl(x))], isBatch: false, byGet: true };
  if (x.method !== 'POST') throw new Refused('METHOD_NOT_ALLOWED', 'GraphQL is asked by POST or GET.', 405);
  const value = fromBody(x, limits.maxBodyBytes);
  if (!Array.isArray(value)) return { requests: [readRequest(value)], isBatch: false, byGet: false };
  if (limits.maxBatch === 0) throw new Refused('BATCHING_NOT_SUPPORTED', 'A request is one operation, not a list.');
  if (value.length > limits.maxBatch) {
    throw new Refused('BATCH_LIMIT_EXCEEDED', `A list may have ${limits.maxBatch} operations at most.`);
  }
  if (value.length === 0) throw badRequest('The list has no operation.');
  return { requests: value.map(readRequest), isBatch: true, byGet: false };
}

function fromBody(x: Exchange, most: number): unknown {
  const contentType = headerOf(x.headers, 'content-type');
  if (mediaTypeOf(contentType) !== MEDIA_TYPE || !isUtf8(contentType)) {
    throw new Refused('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${MEDIA_TYPE}, in UTF-8.`, 415);
  }
  if ((headerOf(x.headers, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
    throw new Refused('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be identity.', 415);
  }
  for (const [name] of pairsOf(x.query ?? '')) {
    if (memberLike(name) !== undefined) throw badRequest('The URL and the body cannot both have parts of a request.');
  }
  if (x.body === null || x.body.length === 0) throw badRequest('The request has no body.');
  if (x.body.length > most) {
    throw new Refused('PAYLOAD_TOO_LARGE', `The request body has more than ${most} bytes.`, 413);
  }
  return parsed(x.body);
}

function parsed(json: Uint8Array | string): unknown {
  const value = parsedOnce(json);
  if (nestsTooDeeply(value)) throw badRequest(`JSON is nested more than ${MOST_NESTING} levels deep.`);
  return value;
}

function parsedOnce(json: Uint8Array | string): unknown {
  try {
    return typeof json === 'string' ? parseTextOnce(json) : parseOnce(json);
  } catch (error) {
    if (error instanceof RepeatedMember) throw badRequest('A JSON object has a member twice.');
    throw badRequest('JSON in UTF-8 is expected.');
  }
}

const JSON_MEMBERS: ReadonlySet<string> = new Set(['variables', 'extensions']);

/** Returns the members in the URL's query; other parameters are ignored. */
function fromUrl(x: Exchange): Readonly<Record<string, unknown>> {
  if (x.body !== null && x.body.length > 0) throw badRequest('A GET has no body.');
  const members: Record<string, unknown> = {};
  for (const [name, value] of pairsOf(x.query ?? '')) {
    const member = memberLike(name);
    if (member === undefined) continue;
    if (member !== name) throw badRequest(`The URL has a parameter that could be taken for ${member}.`);
    if (Object.hasOwn(members, member)) throw badRequest(`The URL has ${member} twice.`);
    members[member] = JSON_MEMBERS.has(member) && value !== '' ? parsed(value) : value || null;
  }
  return members;
}

/**
 * Yields names and values. Some servers read `;` as `&`: text behind one counts as a parameter, so that every member
 * that a server may read is checked.
 */
function* pairsOf(query: string): Generator<readonly [name: string, value: string]> {
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    yield [nameOf(pair), decoded(pair.slice(rawName(pair).length + 1))];
    for (const behind of pair.split(';').slice(1)) {
      if (memberLike(nameOf(behind)) !== undefined) throw badRequest('Write ; in the URL as %3B.');
    }
  }
}

/** Returns the name of a parameter of a URL. Throws Refused if servers could read different ones. */
export function nameOf(pair: string): string {
  return decoded(rawName(pair));
}

function rawName(pair: string): string {
  const equals = pair.indexOf('=');
  return equals < 0 ? pair : pair.slice(0, equals);
}

/** Throws Refused if servers could decode different texts. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('The URL is not encoded as UTF-8 and percent signs.');
  }
}
