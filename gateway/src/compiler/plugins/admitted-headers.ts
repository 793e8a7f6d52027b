/**
 * Which request headers an operation admits beyond the baseline (docs/reference/gateway.md#header-admission,
 * docs/decisions.md#headers-plugins-read).
 */

import { marked } from '../../artifact/config-marks.ts';
import type { Json, Parameter, PluginUse } from '../../artifact/format.ts';
import { BASELINE } from '../../headers/admission.ts';
import type { PreparedPlugin } from './plugins.ts';

/** RFC 9110, section 5.1. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** How a config string names a header. */
const NAMED = /(?:\bheader:|\$request\.header\.|\{\{\s*headers\.)([!#$%&'*+.^_`|~0-9A-Za-z-]+)/g;
/** Passes only through a security requirement (rule 1). */
const CREDENTIALS = 'authorization';
/** Never taken from a client (rule 3). */
const RESERVED = 'x-auth-';

export interface BoundUse {
  readonly plugin: PreparedPlugin;
  readonly use: PluginUse;
  /** Names of headers that expressions in its config, and policies of its upstreams, read. */
  readonly readHeaders: readonly string[];
}

export interface HeaderSources {
  readonly parameters: readonly Parameter[];
  /** Headers that carry the credentials of the operation's security schemes. */
  readonly credentials: readonly string[];
  readonly uses: readonly BoundUse[];
}

/** Lower case, sorted, each once. */
export function admittedHeaders({ parameters, credentials, uses }: HeaderSources): readonly string[] {
  const declared = parameters.flatMap(({ in: part, name }) =>
    part === 'header' ? [name] : part === 'cookie' ? ['cookie'] : [],
  );
  const named = uses.flatMap(headersOfUse).filter((name) => !admitsCredentials(name));
  const names = new Set([...declared, ...credentials, ...named].map((name) => name.toLowerCase()));
  return [...names].filter((name) => !BASELINE.includes(name) && !name.startsWith(RESERVED)).sort();
}

/** Reports whether the name, or a glob such as `auth*`, admits credentials. */
function admitsCredentials(name: string): boolean {
  return name.endsWith('*') ? CREDENTIALS.startsWith(name.slice(0, -1)) : name === CREDENTIALS;
}

/** Headers that a plugin reads: those of its manifest, and those that its config names. */
export function headersOfUse({ plugin, use, readHeaders }: BoundUse): readonly string[] {
  const fixed = (plugin.manifest.request_headers ?? []).map((name) => name.toLowerCase());
  return [...fixed, ...markedHeaders({ plugin, use }), ...namedInText(use.config), ...readHeaders];
}

/** The values of config properties that hold header names. */
function markedHeaders({ plugin, use }: Pick<BoundUse, 'plugin' | 'use'>): readonly string[] {
  return plugin.marks.headers
    .flatMap((pattern) => marked(use.config, pattern))
    .flatMap(({ value }) =>
      typeof value === 'string' && TOKEN.test(value) && !value.includes('*') ? [value.toLowerCase()] : [],
    );
}

function namedInText(value: Json): readonly string[] {
  if (typeof value === 'string') return [...value.matchAll(NAMED)].map(([, name = '']) => name.toLowerCase());
  if (typeof value !== 'object' || value === null) return [];
  const inner: readonly Json[] = Object.values(value);
  return inner.flatMap(namedInText);
}
