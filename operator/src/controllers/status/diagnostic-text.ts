import type { StatusDiagnostic } from '../../api/shared.ts';

/** `E1020 books.yaml#/paths/~1books/get: message (hint)`, as one line. */
export function diagnosticText({ code, message, hint, file, pointer, line }: StatusDiagnostic): string {
  const place =
    file === undefined ? '' : ` ${file}${line === undefined ? '' : `:${line}`}${pointer ? `#${pointer}` : ''}`;
  return `${code}${place}: ${message}${hint ? ` (${hint})` : ''}`;
}
