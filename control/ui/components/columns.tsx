/** Columns that many tables have. */
import type { ComponentChildren } from 'preact';
import { Status, Time } from './values.tsx';

export interface Column<T> {
  readonly label: string;
  readonly cell: (row: T) => ComponentChildren;
  /** `grow` takes what room is left; `actions` holds buttons, and its label is for screen readers only. */
  readonly kind?: 'grow' | 'number' | 'actions';
}

interface Named {
  readonly text: string;
  readonly href?: string;
  /** Behind the name. */
  readonly note?: ComponentChildren;
  /** A line below it. */
  readonly below?: ComponentChildren;
}

/** Makers of columns for rows of one type: tables hand them to the function that lists their columns. */
export type Presets<T> = ReturnType<typeof presets<T>>;

export function presets<T>() {
  return {
    name: (of: (row: T) => Named, label = 'Name'): Column<T> => ({
      label,
      kind: 'grow',
      cell: (row) => <NameCell {...of(row)} />,
    }),
    time: (label: string, at: (row: T) => string | null | undefined): Column<T> => ({
      label,
      cell: (row) => <Time at={at(row)} />,
    }),
    status: (of: (row: T) => string, label = 'Status'): Column<T> => ({
      label,
      cell: (row) => <Status value={of(row)} />,
    }),
    actions: (cell: (row: T) => ComponentChildren): Column<T> => ({ label: 'Actions', kind: 'actions', cell }),
  };
}

function NameCell({ text, href, note, below }: Named) {
  return (
    <>
      {href === undefined ? (
        <span class="strong">{text}</span>
      ) : (
        <a class="strong" href={href}>
          {text}
        </a>
      )}
      {note && <> {note}</>}
      {below && <div class="muted clamp">{below}</div>}
    </>
  );
}
