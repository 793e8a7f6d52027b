/** Diagnostics as the editor shows them. */
import type { Diagnostic } from '../../api/types.ts';
import type { Finding } from '../../editor/code.ts';

/** Those of one file, whose line is known. */
export function findingsOf(diagnostics: readonly Diagnostic[], file: string): readonly Finding[] {
  return diagnostics.flatMap(({ severity, code, message, line, column, ...of }) =>
    line === undefined || (of.file !== undefined && of.file !== file)
      ? []
      : [{ severity, code, message, line, column }],
  );
}
