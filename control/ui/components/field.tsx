/** Inputs with their labels. */
import { h } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string;
  readonly type?: 'text' | 'password' | 'number' | 'datetime-local';
  readonly required?: boolean;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly autofocus?: boolean;
  readonly autocomplete?: string;
}

/** Without JSX: its types know `type` only as one of a kind, and this is any of four. */
export function Field({ label, value, onInput, hint, autofocus, type = 'text', ...rest }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h('input', {
        id,
        type,
        value,
        autocomplete: 'off',
        spellcheck: false,
        ...rest,
        ...(autofocus ? { autofocus: true } : {}),
        ...(hint ? { 'aria-describedby': `${id}-hint` } : {}),
        onInput: (event: InputEvent) =>
          event.currentTarget instanceof HTMLInputElement && onInput(event.currentTarget.value),
      })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
  readonly hint?: string;
  /** The label is for screen readers only. */
  readonly compact?: boolean;
}

export function Choice<T extends string>({ label, value, options, onChange, hint, compact = false }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class={compact ? 'field compact' : 'field'}>
      <label for={id} class={compact ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}
        onChange={(event) => {
          const chosen = options[event.currentTarget.selectedIndex];
          if (chosen) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly hint?: string;
}

export function Check({ label, checked, onChange, hint }: CheckProps) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        {...(hint ? { 'aria-describedby': `${id}-hint` } : {})}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        {hint && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/** What `/` goes to (main.tsx). */
export function Filter({ label, value, onInput }: FilterProps) {
  return (
    <div class="filter">
      <input
        type="search"
        data-filter
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={label}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </div>
  );
}
