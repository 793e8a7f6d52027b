/**
 * The gateway's own endpoints on the traffic port (docs/reference/gateway.md#reserved-endpoints,
 * docs/decisions.md#hidden-endpoints).
 */

import type { SpecType } from '../artifact/format.ts';
import { type Answer, type Exchange, headerOf } from '../exchange.ts';
import { problem } from '../problems.ts';
import type { Health } from './health.ts';
import type { SpecFormat } from './render-worker.ts';
import type { RenderedSpec, SpecLibrary } from './spec-library.ts';

export const RESERVED_PREFIX = '/__gw/';
const SPECS = `${RESERVED_PREFIX}specs`;
const TYPES: readonly SpecType[] = ['openapi', 'asyncapi'];

export interface ReservedOptions {
  /** `--expose-health`. */
  readonly exposeHealth: boolean;
  /** `--expose-specs`. */
  readonly exposeSpecs: boolean;
}

/** The described parts of an artifact. */
export interface Described {
  readonly health: Health;
  readonly specs: SpecLibrary;
}

export async function reserved(exchange: Exchange, gw: Described, options: ReservedOptions): Promise<Answer> {
  const health = options.exposeHealth && exchange.path === `${RESERVED_PREFIX}health`;
  const specs = options.exposeSpecs && (exchange.path === SPECS || exchange.path.startsWith(`${SPECS}/`));
  if (!health && !specs) return notFound('There is no such endpoint under /__gw/.');
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    const detail = `${exchange.path} is read with GET.`;
    return { problem: problem('method-not-allowed', detail, { headers: ['allow', 'GET, HEAD'] }) };
  }
  if (health) return json(gw.health);
  return exchange.path === SPECS ? json(index(gw.specs)) : spec(exchange, gw.specs);
}

function json(value: unknown): Answer {
  return { status: 200, headers: ['content-type', 'application/json'], body: JSON.stringify(value) };
}

function notFound(detail: string): Answer {
  return { problem: problem('route-not-found', detail) };
}

function index(library: SpecLibrary) {
  const of = (type: SpecType) => {
    const specs = library.names(type).map((name) => ({ name, url: `${SPECS}/${encodeURIComponent(name)}` }));
    // An empty list has no merged spec.
    const merged = specs.length === 0 ? {} : { merged_url: `${SPECS}/${type}` };
    return { specs, count: specs.length, ...merged };
  };
  return { openapi: of('openapi'), asyncapi: of('asyncapi') };
}

async function spec(exchange: Exchange, library: SpecLibrary): Promise<Answer> {
  const format = formatOf(exchange.query);
  if (format === undefined) {
    const errors = [{ in: 'query', field: 'format', reason: 'must be json or yaml' }];
    return { problem: problem('validation-failed', 'format must be json or yaml.', { errors }) };
  }
  const name = nameOf(exchange.path.slice(SPECS.length + 1));
  const type = TYPES.find((each) => each === name);
  const rendering = type ? library.merged(type, format) : library.file(name, format);
  if (!rendering) return notFound(`There is no such spec: ${SPECS} lists the available ones.`);
  return send(exchange, await rendering, format);
}

function nameOf(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

/** Default yaml; returns undefined for other formats. */
function formatOf(query: string | undefined): SpecFormat | undefined {
  const format = new URLSearchParams(query ?? '').get('format') ?? 'yaml';
  return format === 'json' || format === 'yaml' ? format : undefined;
}

/** Sends validators, so that clients need not fetch an unchanged spec again (RFC 9110, section 13). */
function send(exchange: Exchange, { body, etag }: RenderedSpec, format: SpecFormat): Answer {
  const headers = ['etag', etag, 'cache-control', 'no-cache'];
  const known = headerOf(exchange.headers, 'if-none-match')
    ?.split(',')
    .map((each) => each.trim().replace(/^W\//, ''));
  if (known?.some((each) => each === etag || each === '*')) return { status: 304, headers, body: null };
  return { status: 200, headers: ['content-type', `application/${format}`, ...headers], body };
}
