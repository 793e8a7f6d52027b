/**
 * Errors of an inline document by itself, which no plugin, upstream or other spec could fix
 * (docs/decisions.md#webhooks-refuse-alone).
 */
import { compileProject } from '@gw/control';
import { type Diagnostic, ERROR_CODES } from '@gw/gateway/compiler';
import { diagnosticLine } from '@gw/gateway/diagnostic-line';
import type { ApiSpec } from '../api/resources.ts';

export const MAX_SHOWN = 10;

/** Codes that depend on the project: its plugins, upstreams and whether it is built for production. */
const OF_THE_PROJECT = new Set([
  'E1031',
  'E1033',
  'E1040',
  'E1041',
  'E1042',
  'E1043',
  'E1044',
  'E1045',
  'E1071',
  'E1073',
]);
/** Time and memory: the next attempt, or the operator itself, may have more. */
const OF_THE_MACHINE = new Set(['E1005', 'E1009']);

export interface DocumentFindings {
  readonly errors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

/** Compiles it alone, off the event loop; the document must be inline. */
export async function documentFindings({ metadata, spec }: ApiSpec, timeoutMs: number): Promise<DocumentFindings> {
  const name = spec.file ?? `${metadata.name}.yaml`;
  const { diagnostics } = await compileProject(
    {
      specs: [name],
      files: [{ name, bytes: Buffer.from(spec.source.inline ?? '', 'utf8') }],
      plugins: [],
      flags: {},
    },
    { timeoutMs, owner: metadata.namespace ?? '' },
  );
  const own = diagnostics.filter(({ code }) => !OF_THE_PROJECT.has(code));
  const fatal = (each: Diagnostic) => each.severity === 'error' && !OF_THE_MACHINE.has(each.code);
  return { errors: own.filter(fatal), warnings: own.filter((each) => !fatal(each)) };
}

/** Place of an inline document in its object: lines count from its first. */
const INLINE = 'spec.source.inline';

/** Formats a diagnostic as compilers do: `spec.source.inline:12:5: error E1003 unresolved $ref (at /paths/…). What to do.` */
export function findingLine(diagnostic: Diagnostic): string {
  return diagnosticLine({
    ...diagnostic,
    file: INLINE,
    message: `${short(diagnostic.message)}${pointerOf(diagnostic)}`,
  });
}

/** Formats it without text about other objects: `…:12:5: error E1010 routing conflict (at /paths/…). …` */
export function placeLine(diagnostic: Diagnostic, isInline: boolean): string {
  const { title, hint } = ERROR_CODES[diagnostic.code];
  const place = isInline ? { file: INLINE } : {};
  return diagnosticLine({ ...diagnostic, ...place, message: `${title}${pointerOf(diagnostic)}`, hint });
}

function pointerOf({ pointer }: Diagnostic): string {
  return pointer ? ` (at ${short(pointer)})` : '';
}

function short(text: string): string {
  return text.length > 400 ? `${text.slice(0, 399)}…` : text;
}
