/** Output of `gw dev`. */

import type { AddressInfo } from 'node:net';
import type { Operation, RoutesFile } from '../../artifact/format.ts';
import type { CompileResult, Diagnostic } from '../../compiler/index.ts';
import { diagnosticPlace } from '../../spec/diagnostic-line.ts';
import { isObject } from '../../spec/json.ts';
import { printable } from '../../text/printable.ts';
import { isAnyAddress, isLoopback } from '../../transport/listen-address.ts';

/** Diagnostics of one code in one file, of which more are only counted: large documents have hundreds of warnings. */
const MOST_OF_A_KIND = { error: 20, warning: 3 };
const MOST_ROUTES = 40;

/** Leaves out the diagnostics that the list of left-out operations shows. */
export function devDiagnostics(result: CompileResult, pathOf: (name: string) => string): string {
  const said = new Set(result.ok ? result.leftOut.map(({ code, file, pointer }) => `${code} ${file}#${pointer}`) : []);
  const hasRoutes = !result.ok || result.manifest.routes_count > 0;
  const shown = new Map<string, number>();
  let text = '';
  for (const found of result.diagnostics) {
    const { code, severity, pointer } = found;
    if (said.has(`${code} ${found.file}#${pointer}`) || (code === 'E1020' && !hasRoutes)) continue;
    const diagnostic = found.file === undefined ? found : { ...found, file: pathOf(found.file) };
    const { file } = diagnostic;
    const kind = `${severity}s ${code} in ${file ?? 'the project'}`;
    const n = (shown.get(kind) ?? 0) + 1;
    shown.set(kind, n);
    if (n <= MOST_OF_A_KIND[severity]) text += `${describeInDev(diagnostic)}\n`;
    if (n === MOST_OF_A_KIND[severity] + 1) text += `\0${kind}\n`;
  }
  return text.replaceAll(/\0((?:error|warning)s E\d+ in .*)\n/g, (_, kind: string) => {
    const severity = kind.startsWith('error') ? 'error' : 'warning';
    return `  … and ${(shown.get(kind) ?? 0) - MOST_OF_A_KIND[severity]} more ${kind}\n`;
  });
}

/** Returns `<file>:<line>:<column> compile error: <code> — <message>` and the hint (docs/reference/cli.md#dev). */
export function describeInDev(diagnostic: Diagnostic): string {
  const { severity, code, message, hint } = diagnostic;
  const where = diagnosticPlace(diagnostic).replace(/: $/, '') || 'project';
  return `${printable(`${where} compile ${severity}: ${code} — ${message}`)}\n  hint: ${printable(hint)}`;
}

export function devRoutes({ operations }: RoutesFile): string {
  const rows = operations.map(({ method, path, middlewares, dispatch }) => {
    const chain = [...middlewares, dispatch].map(({ name }) => name).join(' → ');
    return `  ${method.padEnd(7)} ${path}  ${chain}\n`;
  });
  const more = rows.length > MOST_ROUTES ? `  … and ${rows.length - MOST_ROUTES} more\n` : '';
  return rows.slice(0, MOST_ROUTES).join('') + more;
}

export interface Served {
  readonly spec: readonly string[];
  readonly mock: boolean;
  readonly upstream?: string;
  readonly routes: RoutesFile;
  readonly address: string;
  /** There is a manifest. */
  readonly isProject: boolean;
  readonly leftOut: number;
}

/** Suggests a newcomer's next steps; empty for a project with its own dispatchers. */
export function nextSteps({ spec, mock, upstream, routes, address, isProject, leftOut }: Served): string {
  if (!mock && upstream === undefined) return '';
  const { operations } = routes;
  const by = upstream === undefined ? 'answered with examples' : `passed on to ${upstream}`;
  const without = leftOut === 0 ? '' : `, ${leftOut} left out`;
  const count = `${operations.length} operation${operations.length === 1 ? '' : 's'} ${by}${without}`;
  const document = spec[0] ?? 'openapi.yaml';
  const example = operations.find(isEasy);
  const steps = [
    ...(example ? [['try', `curl -i ${address}${example.path}`]] : []),
    ...(mock && !isProject ? [['your server', `gw dev ${document} --upstream http://localhost:3000`]] : []),
    ...(isProject
      ? []
      : [['a project', `gw init --from ${document}${upstream ? ` --upstream ${upstream}` : ''} my-api`]]),
  ];
  return `${count}\n${steps.map(([what = '', command = '']) => `  ${what.padEnd(12)} ${command}\n`).join('')}`;
}

/** One that a browser can ask for. */
function isEasy({ method, path, parameters }: Operation): boolean {
  return method === 'GET' && !path.includes('{') && parameters.every(({ required }) => !required);
}

/** Returns a line for a server that other machines reach; empty for one on the loopback interface. */
export function interfacesNote({ address, port }: AddressInfo): string {
  if (isLoopback(address)) return '';
  const where = isAnyAddress(address) ? 'all interfaces' : address;
  return `listening on ${where}: other machines may send requests; --listen 127.0.0.1:${port} keeps it to this one\n`;
}

/** Returns a line for paths of `servers` in the documents, without which operations are served; else an empty text. */
export function serverPathsNote(documents: readonly { readonly [member: string]: unknown }[]): string {
  const prefixes = new Set(documents.flatMap(({ servers }) => (Array.isArray(servers) ? servers.flatMap(pathOf) : [])));
  if (prefixes.size === 0) return '';
  const named = [...prefixes].slice(0, MOST_PREFIXES).join(', ');
  return `paths are served without ${named} of "servers": give the upstream's URL that path if it needs it\n`;
}

const MOST_PREFIXES = 3;

function pathOf(server: unknown): string[] {
  const url =
    isObject(server) && typeof server['url'] === 'string' ? URL.parse(server['url'], 'http://relative') : null;
  const path = url?.pathname.replace(/\/+$/, '').replaceAll('%7B', '{').replaceAll('%7D', '}') ?? '';
  return path === '' ? [] : [path];
}
