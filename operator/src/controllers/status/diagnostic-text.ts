import { diagnosticLine } from '@gw/gateway/diagnostic-line';
import type { StatusDiagnostic } from '../../api/shared.ts';

/** `books.yaml:12:5: error E1003 message. Hint`; a document is named with its ApiSpec, which may stand anywhere. */
export function diagnosticText(diagnostic: StatusDiagnostic): string {
  const { apiSpec, file } = diagnostic;
  return diagnosticLine(apiSpec === undefined ? diagnostic : { ...diagnostic, file: `${apiSpec}/${file ?? ''}` });
}
