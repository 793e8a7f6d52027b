/**
 * Replaces identifiers by their persisted documents, for an upstream that knows no list: identifiers are removed, so
 * that the upstream can use the document only.
 */

import type { Exchange } from '../../kit.ts';
import { type GraphQLRequest, memberLike } from './graphql-request.ts';
import { nameOf, type SentRequests } from './http-form.ts';
import { badRequest } from './refusal.ts';

/** Bytes of a URL's query that upstreams take. */
const MOST_QUERY = 16_384;

/** `texts`: the document of each request. Throws Refused if the change would alter other parts of the request. */
export function fillIn(exchange: Exchange, { requests, isBatch, byGet }: SentRequests, texts: readonly string[]): void {
  const [first] = requests;
  if (byGet && first !== undefined) exchange.query = filledQuery(exchange.query ?? '', first, texts[0] ?? '');
  else {
    const filled = requests.map((each, i) => filledMembers(each, texts[i] ?? ''));
    exchange.body = Buffer.from(jsonOf(isBatch ? filled : filled[0]));
  }
}

function filledMembers({ operationName, variables, extensions }: GraphQLRequest, query: string): object {
  return {
    query,
    ...(operationName === null ? {} : { operationName }),
    ...(variables === null ? {} : { variables }),
    ...(extensions === null ? {} : { extensions }),
  };
}

/** Other parameters stay as they were sent. */
function filledQuery(sent: string, { extensions }: GraphQLRequest, query: string): string {
  const kept = sent.split('&').filter((pair) => {
    const member = memberLike(nameOf(pair));
    return member === undefined || member === 'variables' || member === 'operationName';
  });
  kept.push(`query=${encodeURIComponent(query)}`);
  if (extensions !== null) kept.push(`extensions=${encodeURIComponent(jsonOf(extensions))}`);
  const filled = kept.join('&');
  if (filled.length > MOST_QUERY) throw badRequest('The document is too long for a URL: send its identifier by POST.');
  return filled;
}

/** Numbers that would be others when they are written again are refused; the depth is that of a client's JSON. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, (_, each: unknown) => {
      if (typeof each === 'number' && Math.abs(each) > Number.MAX_SAFE_INTEGER) {
        throw badRequest('Write integers of more than 53 bits as strings.');
      }
      return each;
    });
  } catch (error) {
    if (error instanceof RangeError) throw badRequest('The variables are nested too deeply.');
    throw error;
  }
}
