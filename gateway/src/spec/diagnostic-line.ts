/** Formats diagnostics for every interface (docs/reference/gateway.md#diagnostics). */

/** The fields of a diagnostic that its line shows. */
export interface WrittenDiagnostic {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Returns `specs/books.yaml:12:5: `, or an empty text if the diagnostic has no file. */
export function diagnosticPlace({ file, line, column }: Pick<WrittenDiagnostic, 'file' | 'line' | 'column'>): string {
  if (file === undefined) return '';
  return `${file}${line === undefined ? '' : `:${line}:${column ?? 1}`}: `;
}

/** Returns `file:line:column: severity CODE message`. */
export function diagnosticHead(diagnostic: WrittenDiagnostic): string {
  const { code, severity, message } = diagnostic;
  return `${diagnosticPlace(diagnostic)}${severity} ${code} ${message}`;
}

/** Returns the head and the hint, in one line. */
export function diagnosticLine(diagnostic: WrittenDiagnostic): string {
  const head = diagnosticHead(diagnostic);
  if (!diagnostic.hint) return head;
  return `${head}${/[.?!]$/.test(head) ? '' : '.'} ${diagnostic.hint}`;
}
