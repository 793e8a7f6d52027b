/** Diagnostics and results as text for people. */
import type { CompileResult, Diagnostic, InheritedRoute } from '../../compiler/index.ts';
import { diagnosticHead } from '../../spec/diagnostic-line.ts';
import { printable } from '../../text/printable.ts';

/** Shown of one code in one file; a spec without any dispatch would fill the screen. */
const MOST_OF_A_KIND = { error: 10, warning: 3 };
/** Routes that a line names. */
const MOST_ROUTES = 10;

/** Returns a block for each diagnostic: `file:line:column: severity CODE message`, the pointer, the hint. */
export function describeDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const kinds = Map.groupBy(diagnostics, ({ file, code, severity }) => `${file ?? ''} ${severity} ${code}`);
  const hidden = new Set<Diagnostic>();
  let rest = '';
  for (const [kind, all] of kinds) {
    const more = all.slice(MOST_OF_A_KIND[all[0]?.severity ?? 'error']);
    for (const each of more) hidden.add(each);
    if (more.length > 0) rest += `${kind.trim()}: ${more.length} more of these (--format json shows all)\n`;
  }
  const text = diagnostics.flatMap((each) => (hidden.has(each) ? [] : describe(each))).join('') + rest;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  return text === ''
    ? ''
    : `${text}${errors} error${errors === 1 ? '' : 's'}, ${warnings} warning${warnings === 1 ? '' : 's'}\n`;
}

function describe(diagnostic: Diagnostic): string {
  const { hint, pointer } = diagnostic;
  const where = pointer === undefined ? [] : [`  at ${pointer === '' ? '(document)' : pointer}`];
  const lines = [diagnosticHead(diagnostic), ...where, `  hint: ${hint}`];
  return `${lines.map(printable).join('\n')}\n`;
}

/** Returns the same diagnostics, with files by the paths that users know. */
export function withPaths(diagnostics: readonly Diagnostic[], pathOf: (name: string) => string): readonly Diagnostic[] {
  return diagnostics.map((each) => (each.file === undefined ? each : { ...each, file: pathOf(each.file) }));
}

/** Returns a line for each `x-gw-dispatch` that operations inherit; empty if they inherit no dispatch. */
export function describeInherited(inherited: readonly InheritedRoute[]): string {
  const sources = Map.groupBy(inherited, ({ file, pointer }) => `${pointer} of ${file}`);
  return [...sources]
    .map(([source, routes]) => {
      const shown = routes.slice(0, MOST_ROUTES).map(({ method, path }) => `${method} ${path}`);
      const more = routes.length > shown.length ? ` and ${routes.length - shown.length} more` : '';
      const tools = routes.filter(({ tool }) => tool !== null).length;
      const offered = tools === 0 ? '' : `, ${tools} of them as tools`;
      return `routes by ${source}: ${routes.length}${offered}: ${shown.join(', ')}${more}\n`;
    })
    .join('');
}

/** Returns one line: routes, plugins, hash, size, time. */
export function summaryOf(output: string, result: CompileResult & { readonly ok: true }, ms: number): string {
  const { manifest, artifactHash, artifact } = result;
  const plugins = (manifest.plugins ?? []).map(({ name }) => name).join(', ') || 'none';
  const signed = manifest.signature === undefined ? '' : ', signed';
  return `${output}: ${manifest.routes_count} routes, plugins: ${plugins}, ${artifactHash}${signed}, ${sizeOf(artifact.length)}, ${(ms / 1000).toFixed(2)} s`;
}

function sizeOf(bytes: number): string {
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
