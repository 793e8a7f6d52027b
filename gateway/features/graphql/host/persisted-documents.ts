/** Documents that the config lists, by their identifiers: clients name them, or may send no others. */
import { hash } from 'node:crypto';
import { isObject } from '../../kit.ts';
import type { GraphQLRequest } from './graphql-request.ts';
import { badRequest, Refused } from './refusal.ts';

const SHA_256 = /^[0-9a-f]{64}$/;

export class PersistedDocuments {
  readonly #only: boolean;
  readonly #byId = new Map<string, string>();
  readonly #texts: ReadonlySet<string>;

  /** `listed`: an object of documents by identifiers. Throws if an identifier is a SHA-256 of another document. */
  constructor(listed: unknown, only: boolean) {
    this.#only = only;
    for (const [id, text] of Object.entries(isObject(listed) ? listed : {})) {
      if (typeof text !== 'string') throw new Error(`persisted_documents: ${id} has no document`);
      const key = keyOf(id);
      if (SHA_256.test(key) && key !== hash('sha256', text)) {
        throw new Error(
          `persisted_documents: ${id} is not the SHA-256 of its document, which is ${hash('sha256', text)}`,
        );
      }
      this.#byId.set(key, text);
    }
    this.#texts = new Set(this.#byId.values());
  }

  /** Identifiers and documents. */
  entries(): Iterable<readonly [id: string, text: string]> {
    return this.#byId.entries();
  }

  /** Returns the document that the request names. Throws Refused if it does not exist, or is not allowed. */
  textOf({ query, id, sha256 }: GraphQLRequest): string {
    if (query !== null) {
      if (id !== null) throw badRequest('query and documentId are alternatives: send one of them.');
      if (sha256 !== null && sha256.toLowerCase() !== hash('sha256', query)) {
        throw badRequest('persistedQuery.sha256Hash is not the SHA-256 of query.');
      }
      if (this.#only && !this.#texts.has(query)) {
        throw new Refused('QUERY_NOT_IN_SAFELIST', 'Only documents that are registered with the API may be sent.');
      }
      return query;
    }
    const named = id ?? sha256;
    if (named === null) throw badRequest('There is no query.');
    const text = this.#byId.get(keyOf(named));
    if (text === undefined) throw sha256 === null ? notFound() : this.#automatic();
    return text;
  }

  /** Returns the refusal whose message tells clients of automatic persisted queries to send the document. */
  #automatic(): Refused {
    if (this.#byId.size > 0) return new Refused('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
    return new Refused('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
  }
}

function notFound(): Refused {
  return new Refused('PERSISTED_QUERY_NOT_FOUND', 'No document has this identifier.');
}

/** `sha256:` stands before a hash in documentId, and not in Apollo's extension; hashes are in any case. */
function keyOf(id: string): string {
  const bare = id.startsWith('sha256:') ? id.slice(7) : id;
  return bare.length === 64 && SHA_256.test(bare.toLowerCase()) ? bare.toLowerCase() : bare;
}
