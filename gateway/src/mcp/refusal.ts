/**
 * The answer to a client whose call middlewares refuse: the HTTP status and the challenge, by which clients
 * authenticate, and a JSON-RPC error whose message says how, since that is what clients show (docs/mcp.md#calls).
 */
import { STATUS_CODES } from 'node:http';
import { type HeaderList, headerOf } from '../exchange.ts';
import { get, isObject } from '../spec/json.ts';
import { errorText, REFUSED, RpcError, type RpcId } from './protocol/json-rpc.ts';

export interface Refusal {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

interface WholeAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** RFC 9110, section 5.1. */
const NAME = /(?:^|[\s,])name="([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})"/i;
/** Characters of a problem's own words. */
const LONGEST = 1_000;

/** `issuers`: of the tokens that the endpoint takes. */
export function refusalAnswer(id: RpcId, refusal: Refusal, issuers: readonly string[]): WholeAnswer {
  const { status } = refusal;
  const headers = refusal.headers.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
  const challenges = headers.filter((_, i) => headers[i - 1] === 'www-authenticate' && i % 2 === 1);
  const kept = headers.filter((_, i) => headers[i - (i % 2)] !== 'content-type');
  const problem = problemOf(headerOf(headers, 'content-type') ?? '', refusal.body);
  const said = [problem === null ? statusText(status) : wordsOf(problem, status)];
  said.push(...new Set(challenges.map((each) => howTo(each, issuers)).filter((each) => each !== null)));
  const error = new RpcError(REFUSED, said.map(sentence).join(' '), problem === null ? {} : { data: problem });
  return { status, headers: ['content-type', 'application/json', ...kept], body: errorText(error, id) };
}

function problemOf(type: string, body: Uint8Array): object | null {
  if (!type.startsWith('application/problem+json')) return null;
  try {
    const problem: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return isObject(problem) ? problem : null;
  } catch {
    return null;
  }
}

function wordsOf(problem: object, status: number): string {
  const words = [get(problem, 'title'), get(problem, 'detail')].filter((each) => typeof each === 'string');
  return words.length === 0 ? statusText(status) : words.join(': ').slice(0, LONGEST);
}

function statusText(status: number): string {
  return `HTTP ${status}${STATUS_CODES[status] ? ` ${STATUS_CODES[status]}` : ''}`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Returns a challenge's demand, in words; null if it names no scheme. */
function howTo(challenge: string, issuers: readonly string[]): string | null {
  const scheme = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}/.exec(challenge)?.[0];
  switch (scheme?.toLowerCase()) {
    case undefined:
      return null;
    case 'apikey':
      return apiKey(challenge);
    case 'basic':
      return 'Send a user name and password in the header Authorization, with the scheme Basic.';
    case 'bearer':
      return bearer(challenge, issuers);
    case 'clientcertificate':
      return 'Connect with a client certificate (TLS).';
    case 'signature':
      return 'Sign the request (RFC 9421), in the headers Signature-Input and Signature.';
    default:
      return `Send credentials in the header Authorization, with the scheme ${scheme}.`;
  }
}

function apiKey(challenge: string): string {
  const name = NAME.exec(challenge)?.[1];
  if (/(^|[\s,])in="query"/i.test(challenge))
    return 'The operation takes its API key in the query, which calls of tools do not have.';
  return name === undefined
    ? 'Send an API key in the header that the API names.'
    : `Send an API key in the header ${name}.`;
}

function bearer(challenge: string, issuers: readonly string[]): string {
  const from = issuers.length === 0 ? '' : `, issued by ${issuers.join(' or ')}`;
  const scopes = /(?:^|[\s,])scope="([\x21\x23-\x5b\x5d-\x7e ]{1,500})"/i.exec(challenge)?.[1];
  const wanted = scopes === undefined ? '' : ` It needs the scope ${scopes}.`;
  return `Send an access token in the header Authorization, with the scheme Bearer${from}.${wanted}`;
}
