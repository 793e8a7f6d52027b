/** Tables of records; on narrow screens each row becomes a card, with the labels beside the values. */
import type { ComponentChildren } from 'preact';
import type { LoadedList } from '../data/use-list.ts';
import { Problem } from './problem.tsx';

interface Column<T> {
  readonly label: string;
  readonly cell: (row: T) => ComponentChildren;
  /** `grow` takes what room is left; `actions` holds buttons, and its label is for screen readers only. */
  readonly kind?: 'grow' | 'number' | 'actions';
}

interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
}

export function Table<T>({ caption, columns, rows, rowKey }: TableProps<T>) {
  return (
    <table class="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label, kind }) => (
            <th key={label} scope="col" class={kind}>
              {kind === 'actions' ? <span class="visually-hidden">{label}</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ label, cell, kind }) => (
              <td key={label} class={kind} data-label={kind === 'actions' ? undefined : label}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ListTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: LoadedList<T>;
  /** Shown if there are no rows. */
  readonly empty: ComponentChildren;
  /** Leaves rows out. */
  readonly only?: (row: T) => boolean;
}

export function ListTable<T>({ list, empty, only, ...table }: ListTableProps<T>) {
  if (list.error !== undefined && list.items === undefined) return <Problem error={list.error} onRetry={list.reload} />;
  if (list.items === undefined) return <Loading what={table.caption} />;
  if (list.items.length === 0) return <>{empty}</>;
  const rows = only ? list.items.filter(only) : list.items;
  return (
    <>
      <Problem error={list.error} onRetry={list.reload} />
      {rows.length === 0 ? <p class="muted pad">Nothing fits the filter.</p> : <Table {...table} rows={rows} />}
      {list.more && <ShowMore onClick={list.more} loading={list.loadingMore} />}
    </>
  );
}

/** Below a list that is not shown to its end. `loading`: more is on its way. */
export function ShowMore({ onClick, loading = false }: { readonly onClick: () => void; readonly loading?: boolean }) {
  return (
    <p class="more">
      <button type="button" class="button" onClick={onClick} aria-disabled={loading}>
        {loading ? 'Loading…' : 'Show more'}
      </button>
    </p>
  );
}

/** Takes about the room of what is coming, so that the page does not jump. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {what}…</span>
      <i />
      <i />
      <i />
      <i />
    </div>
  );
}
