/** One GraphQL request in the form of GraphQL over HTTP: the members of a JSON object, or of a URL's query. */

import { isObject, type Obj } from '../../kit.ts';
import { badRequest } from './refusal.ts';

export interface GraphQLRequest {
  readonly query: string | null;
  /** `documentId` or `id`. */
  readonly id: string | null;
  /** `extensions.persistedQuery.sha256Hash`. */
  readonly sha256: string | null;
  /** Null also if it is empty. */
  readonly operationName: string | null;
  readonly variables: Obj | null;
  /** Without `persistedQuery`; null if nothing else remains. */
  readonly extensions: Obj | null;
}

/** Other members are refused: a server could read one of them in place of these. */
const MEMBERS = ['query', 'operationName', 'variables', 'extensions', 'documentId', 'id'] as const;

export type MemberName = (typeof MEMBERS)[number];

const SHA_256 = /^[0-9a-fA-F]{64}$/;

/** The member that readers could take a name for: in any case, with spaces around or brackets behind it. */
export function memberLike(name: string): MemberName | undefined {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[[.\0].*$/s, '');
  return MEMBERS.find((each) => each.toLowerCase() === plain);
}

/** Throws Refused. */
export function readRequest(value: unknown): GraphQLRequest {
  if (!isObject(value)) throw badRequest('A request is a JSON object with a member query.');
  for (const name of Object.keys(value)) {
    if (!MEMBERS.some((each) => each === name)) {
      throw badRequest(`A request has no members but ${MEMBERS.join(', ')}.`);
    }
  }
  const [id, documentId] = [textOf(value, 'id'), textOf(value, 'documentId')];
  if (id !== null && documentId !== null) throw badRequest('id and documentId are alternatives: send one of them.');
  const { persistedQuery, ...extensions } = objectOf(value, 'extensions') ?? {};
  return {
    query: textOf(value, 'query'),
    id: documentId ?? id,
    sha256: hashOf(persistedQuery),
    operationName: textOf(value, 'operationName') || null,
    variables: objectOf(value, 'variables'),
    extensions: Object.keys(extensions).length === 0 ? null : extensions,
  };
}

function hashOf(persistedQuery: unknown): string | null {
  if (persistedQuery === undefined || persistedQuery === null) return null;
  const given = isObject(persistedQuery) ? textOf(persistedQuery, 'sha256Hash') : null;
  if (given === null || !SHA_256.test(given)) {
    throw badRequest('extensions.persistedQuery must have the SHA-256 of the document as sha256Hash.');
  }
  return given;
}

function textOf(value: Obj, name: string): string | null {
  const member = Object.hasOwn(value, name) ? value[name] : null;
  if (member === null) return null;
  // Writing UTF-8, also for hashes, replaces lone surrogates by one and the same character.
  if (typeof member === 'string' && member.isWellFormed()) return member;
  throw badRequest(`${name} must be a string, of whole characters.`);
}

function objectOf(value: Obj, name: string): Obj | null {
  const member = Object.hasOwn(value, name) ? value[name] : null;
  if (member === null || isObject(member)) return member;
  throw badRequest(`${name} must be an object.`);
}
