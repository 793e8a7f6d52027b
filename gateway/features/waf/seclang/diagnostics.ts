/** Diagnostics of files of rules. */

import { MAX_DIAGNOSTICS } from './limits.ts';
import type { Place, SecLangDiagnostic } from './model.ts';

/** Collects diagnostics, up to a limit. */
export class DiagnosticList {
  readonly found: SecLangDiagnostic[] = [];
  #errors = 0;

  /** Reports whether no more errors are kept. */
  get isFull(): boolean {
    return this.#errors >= MAX_DIAGNOSTICS;
  }

  /** Warnings leave room for as many errors. */
  add(severity: 'error' | 'warning', { file, line, column }: Place, message: string, hint: string): void {
    if (severity === 'error' && !this.isFull) this.#errors++;
    else if (this.found.length >= MAX_DIAGNOSTICS) return;
    this.found.push({ severity, file, line, column, message, hint });
  }
}

/** The diagnostics of one file. */
export class FileDiagnostics extends DiagnosticList {
  readonly #file: string;

  constructor(file: string) {
    super();
    this.#file = file;
  }

  error(place: Omit<Place, 'file'>, message: string, hint: string): void {
    this.add('error', { file: this.#file, ...place }, message, hint);
  }

  warning(place: Omit<Place, 'file'>, message: string, hint: string): void {
    this.add('warning', { file: this.#file, ...place }, message, hint);
  }
}

/** Quotes part of a file in a message, as text for people, shortened. */
export function quoted(bytes: string): string {
  const text = Buffer.from(bytes.length > 60 ? `${bytes.slice(0, 60)}...` : bytes, 'latin1').toString('utf8');
  return `"${text.replace(/\p{Cc}/gu, '?')}"`;
}
