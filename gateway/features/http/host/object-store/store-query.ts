/** The query of a request to a store: the client's, in the one encoding that the store signs it in, too. */
import { escaped, percentDecoded } from './object-path.ts';

export interface StoreQuery {
  /** Without `?`; empty for none. */
  readonly text: string;
  /** Values by name, decoded. */
  readonly values: Record<string, string[]>;
}

export const NO_QUERY: StoreQuery = { text: '', values: {} };

/**
 * Returns null if the query has an encoding that is broken, or not UTF-8, or a value without a name, which stores sign
 * in ways of their own. A `+` is a space, as stores read it.
 */
export function storeQuery(query: string | undefined): StoreQuery | null {
  if (query === undefined || query === '') return NO_QUERY;
  const values: Record<string, string[]> = Object.create(null);
  const parts: string[] = [];
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    if (name === null || name === '' || value === null) return null;
    values[name] ??= [];
    values[name].push(value);
    // S3 calls a name alone, such as `uploads`, a sub-resource.
    parts.push(equals < 0 ? escaped(name) : `${escaped(name)}=${escaped(value)}`);
  }
  return { text: parts.join('&'), values };
}

function decoded(text: string): string | null {
  return percentDecoded(text.replaceAll('+', ' '));
}
