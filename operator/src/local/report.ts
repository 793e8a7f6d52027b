/** Progress output of local mode; coloured on a terminal only. */
import { styleText } from 'node:util';
import type { StatusDiagnostic } from '../api/shared.ts';
import { diagnosticText } from '../controllers/status/diagnostic-text.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import type { EventRecord, EventSink } from '../runtime/objects.ts';

type Style = Parameters<typeof styleText>[0];

/** Formats a request in the log of a gateway as one line for people; null for other lines. */
function requestLine(line: string): { readonly status: number; readonly text: string } | null {
  if (!line.includes('"msg":"request"')) return null;
  let logged: Readonly<Record<string, unknown>>;
  try {
    logged = JSON.parse(line);
  } catch {
    return null;
  }
  const { method, path, status, duration_ms, plugin, consumer, errors } = logged;
  const by = typeof plugin === 'string' ? `  by ${plugin}` : '';
  const who = typeof consumer === 'string' ? `  for ${consumer}` : '';
  const ms = Math.round(Number(duration_ms) * 10) / 10;
  return { status: Number(status), text: `${method} ${path} ${status} ${ms} ms${by}${who}${reasonIn(errors)}` };
}

/** Returns the first reason for which a request was refused; empty if the line has none. */
function reasonIn(errors: unknown): string {
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (typeof first !== 'object' || first === null) return '';
  const { in: part, field, reason } = first as Readonly<Record<string, unknown>>;
  return `  ${String(part)} ${String(field)}: ${String(reason)}`;
}

export class Report implements EventSink {
  readonly #write: (text: string) => void;
  readonly #colour: boolean;
  readonly #verbose: boolean;
  /** Diagnostics as last shown: Events repeat them, for readers of Events alone. */
  #shown: readonly string[] = [];

  constructor(
    write: (text: string) => void,
    { colour, verbose }: { readonly colour: boolean; readonly verbose: boolean },
  ) {
    this.#write = write;
    this.#colour = colour;
    this.#verbose = verbose;
  }

  note(text: string): void {
    this.#line('·', text, 'dim');
  }

  success(text: string): void {
    this.#line('✓', text, 'green');
  }

  problem(where: string, reason: string): void {
    this.#line('✗', `${where}: ${reason}`, 'red');
  }

  /** Writes a line that stands alone: an address, a command to try. */
  plain(text: string): void {
    this.#write(`${text}\n`);
  }

  /** Every diagnostic, at its place in the manifests. `found`: as the compiler gave them, which Events repeat. */
  diagnostics(found: readonly StatusDiagnostic[], placed: readonly StatusDiagnostic[]): void {
    this.#shown = found.map(diagnosticText);
    for (const diagnostic of placed) {
      this.#line(' ', diagnosticText(diagnostic), diagnostic.severity === 'error' ? 'red' : 'yellow');
    }
  }

  /** Writes a line of a process: requests always, other lines if the report is verbose. */
  podLine(pod: string, line: string): void {
    if (this.#verbose) return this.#write(`${this.#styled('dim', `[${pod}]`)} ${line}\n`);
    const request = requestLine(line);
    if (request !== null)
      this.#line(request.status < 400 ? '→' : '✗', request.text, request.status < 500 ? 'dim' : 'red');
  }

  /** Writes the Events that a cluster would show with `kubectl describe`. */
  record({ kind, metadata }: KubeObject, { type, reason, note }: EventRecord): void {
    const fresh = this.#withoutShown(note);
    if (fresh === '') return;
    const text = `${kind} ${metadata.name}: ${fresh}`;
    if (type === 'Warning') this.#line('✗', text, 'red');
    else if (!this.#verbose) return;
    else if (reason === 'Ready' || reason === 'Compiled') this.#line('✓', text, 'green');
    else this.note(text);
  }

  /** Returns the text of an Event without the diagnostics already shown above it. */
  #withoutShown(note: string): string {
    const repeated = this.#shown.map((text) => note.indexOf(text)).filter((at) => at >= 0);
    if (repeated.length === 0) return note;
    return note.slice(0, Math.min(...repeated)).replace(/[.:]?\s*\w*:\s*$/, '');
  }

  #line(mark: string, text: string, style: Style): void {
    const time = new Date().toTimeString().slice(0, 8);
    this.#write(`${this.#styled('dim', time)} ${this.#styled(style, `${mark} ${text}`)}\n`);
  }

  #styled(style: Style, text: string): string {
    return this.#colour ? styleText(style, text, { validateStream: false }) : text;
  }
}
