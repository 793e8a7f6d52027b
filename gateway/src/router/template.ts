/**
 * Path templates (docs/reference/gateway.md#routing): `{param}` is one segment or a part of one, `{param+}` the rest of
 * the path.
 */

import { type SegmentText, sentSlice } from './segment-text.ts';

/** A literal, or a parameter between literals: `report-{id}.pdf` is `report-`, id, `.pdf`. */
export interface SegmentPattern {
  /** Decoded. */
  readonly literals: readonly string[];
  readonly names: readonly string[];
}

export type Segment =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'pattern'; readonly pattern: SegmentPattern }
  | { readonly kind: 'greedy'; readonly name: string };

export interface PathTemplate {
  readonly segments: readonly Segment[];
  readonly names: readonly string[];
}

export class TemplateError extends Error {}

/** Throws TemplateError with the reason. */
export function parseTemplate(template: string): PathTemplate {
  if (!template.startsWith('/')) throw new TemplateError('a path begins with "/"');
  const parts = template.slice(1).split('/');
  const segments = parts.map((part, i) => parseSegment(part, i === parts.length - 1));
  const names = segments.flatMap((segment) => {
    if (segment.kind === 'static') return [];
    return segment.kind === 'pattern' ? segment.pattern.names : [segment.name];
  });
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new TemplateError(`parameter "${twice}" stands twice in the path`);
  return { segments, names };
}

function parseSegment(text: string, last: boolean): Segment {
  const literals: string[] = [];
  const names: string[] = [];
  let rest = text;
  for (;;) {
    const open = rest.indexOf('{');
    if (open < 0) break;
    const close = rest.indexOf('}', open);
    if (close < 0) throw new TemplateError(`"{" without "}" in "${text}"`);
    const name = rest.slice(open + 1, close);
    if (name === '' || name.includes('{')) throw new TemplateError(`a parameter without a name in "${text}"`);
    literals.push(rest.slice(0, open));
    names.push(name);
    rest = rest.slice(close + 1);
  }
  literals.push(rest);
  if (rest.includes('}')) throw new TemplateError(`"}" without "{" in "${text}"`);
  const [name] = names;
  if (name === undefined) return { kind: 'static', text: decodeSegment(text) };
  if (names.some((each) => each.endsWith('+'))) {
    if (!last || names.length > 1 || literals.some((literal) => literal !== '') || name === '+') {
      throw new TemplateError(`a greedy parameter is the whole of the last segment: "${text}"`);
    }
    return { kind: 'greedy', name: name.slice(0, -1) };
  }
  if (names.length === 1 && literals.every((literal) => literal === '')) return { kind: 'param', name };
  if (literals.slice(1, -1).some((literal) => literal === '')) {
    throw new TemplateError(`two parameters with nothing between them in "${text}"`);
  }
  return { kind: 'pattern', pattern: { literals: literals.map(decodeSegment), names } };
}

/** Percent-decodes one segment; returns malformed UTF-8 unchanged. */
export function decodeSegment(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the parameters' values if the segment matches, each as short as the literals allow and never empty; else
 * undefined.
 */
export function matchPattern(pattern: SegmentPattern, readings: readonly SegmentText[]): string[] | undefined {
  for (const reading of readings) {
    const values = matchReading(pattern, reading);
    if (values) return values;
  }
  return undefined;
}

function matchReading({ literals, names }: SegmentPattern, reading: SegmentText): string[] | undefined {
  const { text: segment } = reading;
  const first = literals[0] as string;
  const last = literals[literals.length - 1] as string;
  if (!segment.startsWith(first)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (let i = 0; i < names.length - 1; i++) {
    const literal = literals[i + 1] as string;
    const next = segment.indexOf(literal, at + 1);
    if (next < 0) return undefined;
    values.push(sentSlice(reading, at, next));
    at = next + literal.length;
  }
  const end = segment.length - last.length;
  if (end <= at || !segment.endsWith(last)) return undefined;
  values.push(sentSlice(reading, at, end));
  return values;
}

/** Decodes the value of a path parameter; a greedy one holds several segments, and each is decoded by itself. */
export function decodePath(raw: string): string {
  if (!raw.includes('%')) return raw;
  return raw.includes('/') ? raw.split('/').map(decodeSegment).join('/') : decodeSegment(raw);
}
