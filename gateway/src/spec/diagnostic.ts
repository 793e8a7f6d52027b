/**
 * Diagnostics are collected, never thrown; their positions in the text are found only if needed
 * (docs/decisions.md#diagnostics).
 */
import { type Code, type CodeWithOwnHints, ERROR_CODES, type ErrorCode, type Severity } from './error-codes.ts';
import { type Position, positions } from './position.ts';

export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** The fault, in one line. */
  readonly message: string;
  /** The remedy. */
  readonly hint: string;
  /** Name in the project; absent if no file is at fault. */
  readonly file?: string;
  /** JSON pointer (RFC 6901); `` is the whole document. */
  readonly pointer?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
}

/** A place in a file of the project. */
export interface Place {
  readonly file: string;
  readonly pointer: string;
}

interface Finding extends Partial<Place>, Partial<Position> {
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
  /** In place of its code's. */
  readonly severity?: Severity;
}

/** An error as it was found. */
export interface FoundError extends Partial<Place> {
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
  /** Keys of the operations in whose compilation it was found. */
  readonly operations: ReadonlySet<string>;
}

/** Most findings that are kept; the rest is counted. */
const MAX_FINDINGS = 5_000;

export class Diagnostics {
  readonly #findings: Finding[] = [];
  /** Operations of each finding, by its identity. */
  readonly #seen = new Map<string, Set<string>>();
  readonly #production: boolean;
  #operation: string | null = null;
  #errors = 0;

  constructor({ production }: { readonly production: boolean }) {
    this.#production = production;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  /** Each finding counts once, however many ways lead to it. */
  add(code: CodeWithOwnHints, place: Place | null, message: string, hint: string): void;
  add(code: Exclude<Code, CodeWithOwnHints>, place: Place | null, message: string, hint?: string): void;
  add(code: Code, place: Place | null, message: string, hint?: string): void {
    this.#add({ code, message, ...place, ...(hint === undefined ? {} : { hint }) });
  }

  /** Adds a fault that was found before. */
  addFound({ code, file, pointer, message, hint }: FoundError): void {
    const place = file === undefined || pointer === undefined ? {} : { file, pointer };
    this.#add({ code, message, ...place, ...(hint === undefined ? {} : { hint }) });
  }

  /** Adds a diagnostic that is an error in production builds, unlike others of its code. */
  addStrict(code: Code, place: Place | null, message: string, hint: string): void {
    this.#add({ code, message, hint, ...place, ...(this.#production ? { severity: 'error' } : {}) });
  }

  /** For a place known by line, as parsers report them. */
  addAt(code: Code, file: string, position: Position | null, message: string, hint: string): void {
    this.#add({ code, message, hint, file, ...position });
  }

  /** Attributes findings of `work` to this operation. */
  within<T>(operation: string, work: () => T): T {
    this.#operation = operation;
    try {
      return work();
    } finally {
      this.#operation = null;
    }
  }

  /** Turns the errors so far into warnings: the parts that they concern are left out. */
  demote(): void {
    for (const [i, finding] of this.#findings.entries()) {
      if (this.#severityOf(finding) === 'error') this.#findings[i] = { ...finding, severity: 'warning' };
    }
    this.#errors = 0;
  }

  /** Errors, in the order in which they were found. */
  get errors(): readonly FoundError[] {
    return this.#findings.flatMap((finding) =>
      this.#severityOf(finding) === 'error'
        ? [{ ...finding, operations: this.#seen.get(keyOf(finding)) ?? new Set<string>() }]
        : [],
    );
  }

  /** Reports whether each error is among `errors`: past a limit they are only counted. */
  get isComplete(): boolean {
    return this.#errors <= MAX_FINDINGS;
  }

  #add(finding: Finding): void {
    const key = keyOf(finding);
    const operations = this.#seen.get(key) ?? new Set<string>();
    if (this.#operation !== null) operations.add(this.#operation);
    if (this.#seen.has(key)) return;
    this.#seen.set(key, operations);
    const isError = this.#severityOf(finding) === 'error';
    if (isError) this.#errors++;
    // Warnings leave room for as many errors.
    if (this.#findings.length < (isError ? 2 * MAX_FINDINGS : MAX_FINDINGS)) this.#findings.push(finding);
  }

  #severityOf({ code, severity }: { readonly code: Code; readonly severity?: Severity | undefined }): Severity {
    const { severity: usual, production }: ErrorCode = ERROR_CODES[code];
    return severity ?? (production && this.#production ? 'error' : usual);
  }

  /** Sorted by file, line, pointer and code. `textOf`: the text of a file, if it has one. */
  list(textOf: (file: string) => string | undefined): readonly Diagnostic[] {
    const found = new Map<string, ReadonlyMap<string, Position>>();
    for (const file of new Set(this.#findings.flatMap((finding) => finding.file ?? []))) {
      const text = textOf(file);
      const pointers = this.#findings.flatMap((each) => (each.file === file ? (each.pointer ?? []) : []));
      if (text !== undefined && pointers.length > 0) found.set(file, positions(text, pointers));
    }
    return this.#findings
      .map(({ code, severity, message, hint, file, pointer, line, column }): Diagnostic => {
        const position = line === undefined ? found.get(file ?? '')?.get(pointer ?? '') : { line, column };
        return {
          code,
          severity: this.#severityOf({ code, severity }),
          message,
          hint: hint ?? ERROR_CODES[code].hint,
          ...(file === undefined ? {} : { file }),
          ...(pointer === undefined ? {} : { pointer }),
          ...(position?.line === undefined ? {} : { line: position.line }),
          ...(position?.column === undefined ? {} : { column: position.column }),
        };
      })
      .sort(byPlace);
  }
}

function keyOf({ code, file, pointer, message }: Finding): string {
  return [code, file, pointer, message].join('\0');
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return (
    compare(a.file ?? '', b.file ?? '') ||
    (a.line ?? 0) - (b.line ?? 0) ||
    compare(a.pointer ?? '', b.pointer ?? '') ||
    compare(a.code, b.code) ||
    compare(a.message, b.message)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
