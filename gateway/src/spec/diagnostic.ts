/**
 * Diagnostics are collected, never thrown; where they stand in the text is found only when there are some
 * (docs/decisions.md#diagnostics).
 */
import { type Code, ERROR_CODES, type ErrorCode, type Severity } from './error-codes.ts';
import { type Position, positions } from './position.ts';

export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** What is wrong, in one line. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  /** Name in the project; absent where no file is at fault. */
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

/** Past it the rest is counted, not kept. */
const MAX_FINDINGS = 5_000;

export class Diagnostics {
  readonly #findings: Finding[] = [];
  readonly #seen = new Set<string>();
  readonly #production: boolean;
  #errors = 0;

  constructor({ production }: { readonly production: boolean }) {
    this.#production = production;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  /** Each finding counts once, however many ways lead to it. */
  add(code: Code, place: Place | null, message: string, hint?: string): void {
    this.#add({ code, message, ...place, ...(hint === undefined ? {} : { hint }) });
  }

  /** One that is an error in production builds, unlike others of its code. */
  addStrict(code: Code, place: Place | null, message: string, hint: string): void {
    this.#add({ code, message, hint, ...place, ...(this.#production ? { severity: 'error' } : {}) });
  }

  /** For a place known by line, as parsers report them. */
  addAt(code: Code, file: string, position: Position | null, message: string): void {
    this.#add({ code, message, file, ...position });
  }

  #add(finding: Finding): void {
    const key = [finding.code, finding.file, finding.pointer, finding.message].join('\0');
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (this.#severityOf(finding) === 'error') this.#errors++;
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push(finding);
  }

  #severityOf({ code, severity }: { readonly code: Code; readonly severity?: Severity | undefined }): Severity {
    const { severity: usual, production }: ErrorCode = ERROR_CODES[code];
    return severity ?? (production && this.#production ? 'error' : usual);
  }

  /** By file, line, pointer and code. `textOf`: the text of a file, where it has one. */
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
