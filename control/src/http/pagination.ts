/** Pages of lists: arrays, with a `next` link (RFC 8288) if there are more items. */
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CompiledQuery, type SelectQueryBuilder, sql } from 'kysely';
import { ControlError } from '../errors.ts';

export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string;
  /** A field, or `-field` for the other order. */
  readonly sort?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Cursor of the next page; null after the last. */
  readonly next: string | null;
}

/** Maps the items of a page. */
export function mapPage<T, U>({ items, next }: Page<T>, map: (item: T) => U): Page<U> {
  return { items: items.map(map), next };
}

export interface PageOrder<T extends object> {
  /** The column of each field that the list may be sorted by. */
  readonly columns: Readonly<Record<string, { readonly column: string; value(row: T): string }>>;
  /** Default of `sort`. */
  readonly standard: string;
  /** Unique; breaks ties. */
  readonly id: { readonly column: string; value(row: T): string };
}

/** Returns the rows of one page by keyset, so that concurrent inserts and deletes neither repeat nor skip a row. */
export async function page<DB, TB extends keyof DB, O extends object>(
  query: SelectQueryBuilder<DB, TB, O>,
  { limit = 50, cursor, sort }: PageRequest,
  order: PageOrder<O>,
): Promise<Page<O>> {
  const given = sort ?? order.standard;
  const descending = given.startsWith('-');
  const field = descending ? given.slice(1) : given;
  const by = order.columns[field];
  if (by === undefined) throw new ControlError('bad-request', `sorting by "${field}" is not supported`);
  const direction = descending ? 'desc' : 'asc';
  const list = `${listOf(query)} ${given}`;
  let rows = query
    .orderBy(sql.ref(by.column), direction)
    .orderBy(sql.ref(order.id.column), direction)
    .limit(limit + 1);
  if (cursor !== undefined && cursor !== '') {
    const from = decode(cursor, list);
    const compared = sql<boolean>`(${sql.ref(by.column)}, ${sql.ref(order.id.column)}) ${sql.raw(descending ? '<' : '>')} (${from.value}, ${from.id})`;
    rows = rows.where(compared);
  }
  const found: readonly O[] = await rows.execute().catch(refuseCursor);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next: more ? encode({ list, value: by.value(last), id: order.id.value(last) }) : null };
}

/** Identifies a list, including its filters, by its query. */
function listOf(query: { compile(): CompiledQuery }): string {
  const { sql: text, parameters } = query.compile();
  return hash('sha256', JSON.stringify([text, parameters]), 'base64url').slice(0, 16);
}

/** Refuses a forged cursor, whose values the columns cannot have (SQLSTATE class 22, data exception). */
function refuseCursor(error: unknown): never {
  const { code } = error as { readonly code?: unknown };
  throw typeof code === 'string' && code.startsWith('22') ? wrongCursor() : error;
}

const wrongCursor = () =>
  new ControlError('bad-request', 'the cursor does not belong to this list in this order: start without one');

interface Position {
  /** Which list, in which order. */
  readonly list: string;
  readonly value: string;
  readonly id: string;
}

function encode(position: Position): string {
  return Buffer.from(JSON.stringify([position.list, position.value, position.id])).toString('base64url');
}

function decode(cursor: string, list: string): Position {
  try {
    const [of, value, id]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (of === list && typeof value === 'string' && typeof id === 'string') return { list, value, id };
  } catch {}
  throw wrongCursor();
}

/** Answers with a page. */
export function sendPage<T>(request: FastifyRequest, reply: FastifyReply, { items, next }: Page<T>): readonly T[] {
  if (next !== null) {
    const [path = '', query = ''] = request.url.split('?');
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', next);
    reply.header('link', `<${path}?${parameters}>; rel="next"`);
  }
  return items;
}
