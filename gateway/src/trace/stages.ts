/** Makes stages of a request's spans, each with its changes. */
import type { Exchange, HeaderList } from '../exchange.ts';
import { findingLine, type Problem } from '../problems.ts';
import { CLIENT, SERVER, type Span, type SpanSink } from '../spans/span.ts';
import type { TraceStage } from './report.ts';

/** The state that a middleware can change, as it was when the stage before ended. */
interface Snapshot {
  readonly headers: HeaderList;
  readonly query: string | undefined;
  readonly body: Uint8Array | null;
  readonly context: ReadonlyMap<string, string>;
  readonly staged: number;
  readonly responseHeaders: HeaderList;
  readonly responseStatus: number;
}

export class StageRecorder implements SpanSink {
  readonly resource: SpanSink['resource'];
  readonly instrumentationScope = { name: 'gw' };
  readonly #exchange: () => Exchange;
  readonly #onEnd: () => void;
  readonly #spans: { readonly span: Span; readonly detail: string }[] = [];
  #before: Snapshot | null = null;
  #root: Span | null = null;

  /** `onEnd` is called when the request has ended. */
  constructor(resource: SpanSink['resource'], exchange: () => Exchange, onEnd: () => void) {
    this.resource = resource;
    this.#exchange = exchange;
    this.#onEnd = onEnd;
  }

  /** The request is as the first stage will find it. */
  begin(): void {
    this.#before = snapshot(this.#exchange());
  }

  ended(span: Span): void {
    if (span.kind === SERVER) {
      this.#root = span;
      this.#onEnd();
      return;
    }
    const exchange = this.#exchange();
    const after = snapshot(exchange);
    const answered = span.attributes['gw.outcome'] === 'answered' || span.attributes['gw.outcome'] === 'refused';
    const why = answered && exchange.answer !== null ? answerText(exchange.answer) : '';
    const changed = span.name.startsWith('middleware') && this.#before ? changes(this.#before, after) : '';
    this.#before = after;
    const said = String(span.attributes['gw.detail'] ?? '');
    this.#spans.push({ span, detail: [said, why, changed].filter(Boolean).join('; ') });
  }

  /** Milliseconds since 1970 at which the request began; undefined while it has not ended. */
  get beganAt(): number | undefined {
    return this.#root ? milliseconds(this.#root.startTime) : undefined;
  }

  /** `from`: start of times, in milliseconds since 1970. Default: the beginning of the request. */
  stages(from = this.beganAt ?? 0): readonly TraceStage[] {
    const root = this.#root;
    const timed = this.#spans.map(({ span, detail }): TraceStage => {
      const call = span.kind === CLIENT;
      const status = span.attributes['http.response.status_code'];
      const url = span.attributes['url.full'];
      return {
        stage: call ? 'call' : span.name,
        outcome: String((call ? status : span.attributes['gw.outcome']) ?? span.attributes['error.type'] ?? 'ended'),
        ...(call ? { detail: `${span.name} ${String(url)}` } : detail ? { detail } : {}),
        at_ms: rounded(milliseconds(span.startTime) - from),
        duration_ms: rounded(milliseconds(span.duration)),
        depth: span.parentSpanContext?.spanId === root?.id ? 0 : 1,
      };
    });
    return timed.toSorted((a, b) => (a.at_ms ?? 0) - (b.at_ms ?? 0) || a.depth - b.depth);
  }

  /** The status of the answer, or the reason for its absence. */
  get outcome(): string {
    const attributes = this.#root?.attributes ?? {};
    return String(attributes['http.response.status_code'] ?? attributes['error.type'] ?? 'under way');
  }

  get durationMs(): number {
    return this.#root ? rounded(milliseconds(this.#root.duration)) : 0;
  }
}

function snapshot(exchange: Exchange): Snapshot {
  return {
    headers: [...exchange.headers],
    query: exchange.query,
    body: exchange.body,
    context: new Map(exchange.context ?? []),
    staged: exchange.response.staged?.length ?? 0,
    responseHeaders: [...exchange.response.headers],
    responseStatus: exchange.response.status,
  };
}

function answerText(answer: NonNullable<Exchange['answer']>): string {
  return 'problem' in answer ? problemText(answer.problem) : String(answer.status);
}

/** Findings of a validation that are shown. */
const MOST_FINDINGS = 3;

/** Returns the status and reason of a refusal, with the first findings: where and why, never a value. */
export function problemText({ status, title, detail, errors = [] }: Problem): string {
  const found = errors.slice(0, MOST_FINDINGS).map(findingLine);
  const more = errors.length > MOST_FINDINGS ? [`${errors.length - MOST_FINDINGS} more`] : [];
  return [`${status} ${title}${detail ? `: ${detail}` : ''}`, ...found, ...more].join('; ');
}

function changes(before: Snapshot, after: Snapshot): string {
  const parts: string[] = [];
  const say = (what: string, names: readonly string[]) => {
    if (names.length > 0) parts.push(`${what} ${names.join(', ')}`);
  };
  say('request headers:', changedHeaders(before.headers, after.headers));
  if (before.query !== after.query) parts.push('query changed');
  // Reading a body does not change it; replacing it does.
  if (before.body !== null && before.body !== after.body) parts.push('body replaced');
  say(
    'context:',
    [...after.context].filter(([key, value]) => before.context.get(key) !== value).map(([key]) => key),
  );
  if (after.staged > before.staged) parts.push(`response headers staged: ${after.staged - before.staged}`);
  say('response headers:', changedHeaders(before.responseHeaders, after.responseHeaders));
  if (before.responseStatus !== 0 && before.responseStatus !== after.responseStatus) {
    parts.push(`status ${before.responseStatus} to ${after.responseStatus}`);
  }
  return parts.join('; ');
}

/** `+name` for added or changed, `-name` for removed. */
function changedHeaders(before: HeaderList, after: HeaderList): readonly string[] {
  const [was, is] = [byName(before), byName(after)];
  const added = [...is].filter(([name, value]) => was.get(name) !== value).map(([name]) => `+${name}`);
  const removed = [...was.keys()].filter((name) => !is.has(name)).map((name) => `-${name}`);
  return [...added, ...removed];
}

function byName(headers: HeaderList): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) {
    const name = String(headers[i]);
    const value = String(headers[i + 1]);
    const known = map.get(name);
    map.set(name, known === undefined ? value : `${known}\n${value}`);
  }
  return map;
}

function milliseconds([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1000 + nanoseconds / 1e6;
}

export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
