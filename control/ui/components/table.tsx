/** Tables of records; on narrow screens each row becomes a card, with the labels beside the values. */
import type { ComponentChildren } from 'preact';
import type { LoadedList } from '../data/use-list.ts';
import type { Loaded } from '../data/use-loaded.ts';
import { type Column, type Presets, presets } from './columns.tsx';
import { Problem } from './problem.tsx';

interface TableProps<T> {
  readonly caption: string;
  readonly columns: (presets: Presets<T>) => readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
}

export function Table<T>({ caption, columns: columnsOf, rows, rowKey }: TableProps<T>) {
  const columns = columnsOf(presets<T>());
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

interface ListViewProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: LoadedList<T>;
  /** Shown if there are no rows. */
  readonly empty: ComponentChildren;
  /** Shown in place of `empty` if the server was asked for some of the rows only. */
  readonly unmatched?: string | false;
  /** Leaves rows out. */
  readonly only?: (row: T) => boolean;
}

/** A card with all rows of a list, or with what is shown in their place. */
export function ListView<T>(props: ListViewProps<T>) {
  return (
    <section class="card" aria-label={props.caption}>
      <ListTable {...props} />
    </section>
  );
}

function ListTable<T>({ list, empty, unmatched, only, ...table }: ListViewProps<T>) {
  if (list.items === undefined) return <Pending what={table.caption} error={list.error} reload={list.reload} />;
  if (list.items.length === 0) return unmatched ? <p class="muted pad">{unmatched}</p> : empty;
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

interface PendingProps extends Pick<Loaded<unknown>, 'error' | 'reload'> {
  readonly what: string;
}

/** In place of data that is not there: it is on its way, or cannot be had. */
export function Pending({ what, error, reload }: PendingProps) {
  return error === undefined ? <Loading what={what} /> : <Problem error={error} onRetry={reload} />;
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
