/** Rows of the bindings that are kept beside documents (docs/decisions.md#kept-bindings). */
import type { Kysely, Selectable } from 'kysely';
import type { Schema, SpecBindingsTable } from '../../db/schema.ts';
import { type Page, type PageRequest, page } from '../../http/pagination.ts';
import { type Binding, placeOf } from './bindings.ts';
import type { BindingOutcome } from './bound-document.ts';
import { storableText } from './stored-operations.ts';

type Db = Kysely<Schema>;
type Row = Selectable<SpecBindingsTable>;

export type BindingRow = Omit<Row, 'binding'> & { readonly binding: Binding };

/** Maximum characters of method and path in the sort key, and of a reason. */
const MAX_TEXT = 300;
/** Rows of one statement: parameters of a statement are limited. */
const ROWS = 1000;

/** Returns bindings in the order of creation. */
export async function bindingsOf(db: Db, specId: string): Promise<readonly BindingRow[]> {
  const rows = await db.selectFrom('spec_bindings').selectAll().where('spec_id', '=', specId).orderBy('id').execute();
  return rows.map(parsed);
}

export async function listBindings(db: Db, specId: string, at: PageRequest): Promise<Page<BindingRow>> {
  const rows = await page(db.selectFrom('spec_bindings').selectAll().where('spec_id', '=', specId), at, {
    columns: { path: { column: 'place', value: (row) => row.place } },
    standard: 'path',
    id: { column: 'id', value: (row) => row.id },
  });
  return { ...rows, items: rows.items.map(parsed) };
}

/** `before`: all that there are. */
export async function replaceBindings(
  db: Db,
  specId: string,
  before: readonly BindingRow[],
  outcomes: readonly BindingOutcome[],
  createdBy: string,
): Promise<void> {
  const known = new Map(before.map((row) => [row.id, row]));
  const rows = outcomes.map((outcome) => {
    const was = known.get(outcome.binding.id);
    return {
      ...rowOf(specId, outcome),
      created_by: was && sameChain(was.binding, outcome.binding) ? was.created_by : createdBy,
      ...(was ? { created_at: was.created_at } : {}),
    };
  });
  await db.deleteFrom('spec_bindings').where('spec_id', '=', specId).execute();
  for (let at = 0; at < rows.length; at += ROWS) {
    await db
      .insertInto('spec_bindings')
      .values(rows.slice(at, at + ROWS))
      .execute();
  }
}

/** Reports whether the outcomes equal the stored bindings. */
export function areKept(before: readonly BindingRow[], outcomes: readonly BindingOutcome[]): boolean {
  const known = new Map(before.map((row) => [row.id, row]));
  return (
    before.length === outcomes.length &&
    outcomes.every((outcome) => {
      const { binding, state, reason } = rowOf('', outcome);
      const was = known.get(outcome.binding.id);
      return was && JSON.stringify(was.binding) === binding && was.state === state && was.reason === reason;
    })
  );
}

function rowOf(specId: string, { binding, state, reason }: BindingOutcome) {
  const { id, operation_id, method, path, chain, isDormant } = binding;
  return {
    id,
    spec_id: specId,
    place: storableText(`${path} ${method}`, MAX_TEXT),
    binding: JSON.stringify({ id, operation_id, method, path, chain, isDormant }),
    state: state === 'changed' ? ('applied' as const) : state,
    reason: reason === '' || state === 'changed' ? null : storableText(reason, MAX_TEXT),
  };
}

const parsed = (row: Row): BindingRow => ({ ...row, binding: JSON.parse(row.binding) });

const sameChain = (a: Binding, b: Binding): boolean =>
  placeOf(a) === placeOf(b) && JSON.stringify(a.chain) === JSON.stringify(b.chain);
