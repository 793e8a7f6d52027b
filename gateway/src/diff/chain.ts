/**
 * Changes of an operation's plugins: middlewares, dispatcher, their config. Values are not shown, since some are
 * secrets, except addresses of upstreams, which must not hold any.
 */

import { marked } from '../artifact/config-marks.ts';
import type { Json, Operation, PluginUse } from '../artifact/format.ts';
import { get, isObject } from '../spec/json.ts';
import { child } from '../spec/pointer.ts';
import { breaking, type Change, harmless } from './change.ts';

/** Properties that are named of one config. */
const MOST_NAMED = 10;

/** Facts about the artifacts' plugins. */
export interface ComparedPlugins {
  /** Refuse callers without credentials, of both artifacts. */
  readonly authenticates: ReadonlySet<string>;
  /** Properties of the newer artifact's configs that are addresses of upstreams: see ConfigMarks. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>;
}

export function diffChain(
  subject: string,
  before: Operation,
  after: Operation,
  { authenticates, upstreams }: ComparedPlugins,
): readonly Change[] {
  const [old, now] = [before.middlewares.map(({ name }) => name), after.middlewares.map(({ name }) => name)];
  const guards = [...new Set(now)].filter((name) => authenticates.has(name) && !old.includes(name));
  const refusing = [...new Set(now)].filter(
    (name) => REFUSING.has(name) && !old.includes(name) && !guards.includes(name),
  );
  const custom = [...new Set(now)].filter((name) => isCustom(name) && !old.includes(name) && !guards.includes(name));
  const gone = [...new Set(old)].filter((name) => isCustom(name) && !now.includes(name) && !authenticates.has(name));
  const closed = old.includes(LETS_BROWSERS_IN) && !now.includes(LETS_BROWSERS_IN);
  const reordered = old.join() !== now.join();
  const dispatch = before.dispatch.name !== after.dispatch.name;
  return [
    ...(reordered ? [harmless(subject, `middlewares: ${chainOf(old)} → ${chainOf(now)}`)] : []),
    ...guards.map((name) => breaking(subject, `callers must authenticate: "${name}" runs now`)),
    ...refusing.map((name) => breaking(subject, `"${name}" runs now, and may refuse what was accepted`)),
    ...custom.map((name) => breaking(subject, `"${name}" runs now, of which nothing is known: it may refuse requests`)),
    ...gone.map((name) =>
      breaking(subject, `"${name}" runs no more, of which nothing is known: requests or answers may need it`),
    ),
    ...(closed ? [breaking(subject, 'pages of other origins may not read answers: "cors" runs no more')] : []),
    ...(dispatch ? [harmless(subject, `dispatcher: ${before.dispatch.name} → ${after.dispatch.name}`)] : []),
    ...pairs(before.middlewares, after.middlewares).flatMap((uses) => diffMode(subject, ...uses)),
    ...[...pairs(before.middlewares, after.middlewares), [before.dispatch, after.dispatch] as const].flatMap(
      ([from, to]) => (from.name === to.name ? diffConfig(subject, from, to, upstreams.get(to.name) ?? []) : []),
    ),
  ];
}

function chainOf(names: readonly string[]): string {
  return names.join(', ') || 'none';
}

/** The first use of a plugin with its first, and so on. */
function pairs(before: readonly PluginUse[], after: readonly PluginUse[]): (readonly [PluginUse, PluginUse])[] {
  const left = [...before];
  return after.flatMap((to) => {
    const i = left.findIndex(({ name }) => name === to.name);
    const [from] = i < 0 ? [] : left.splice(i, 1);
    return from ? [[from, to] as const] : [];
  });
}

/** A firewall that only detected refuses requests now. */
function diffMode(subject: string, before: PluginUse, after: PluginUse): readonly Change[] {
  const blocksNow = after.name === 'waf' && detects(before) && !detects(after);
  return blocksNow ? [breaking(subject, '"waf" blocks now, and may refuse what was accepted')] : [];
}

function detects({ config }: PluginUse): boolean {
  return get(config, 'mode') === 'detect';
}

function diffConfig(subject: string, before: PluginUse, after: PluginUse, marks: readonly string[]): readonly Change[] {
  const [old, now] = [before, after].map(({ config }) => addresses(config, marks));
  const moved = [...(now ?? [])].filter(([pointer, to]) => old?.has(pointer) && old.get(pointer) !== to);
  const changed = changedPointers(before.config, after.config, '').filter(
    (pointer) => !moved.some(([at]) => at === pointer),
  );
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : '';
  const named = `${changed.slice(0, MOST_NAMED).join(', ')}${more}`;
  return [
    ...moved.map(([pointer, to]) => harmless(subject, `upstream of "${after.name}": ${old?.get(pointer)} → ${to}`)),
    ...(changed.length > 0 ? [harmless(subject, `config of "${after.name}" changed: ${named}`)] : []),
  ];
}

/** Upstreams of a config by their pointers; one that cannot be read as a URL, or has credentials, is not shown. */
function addresses(config: Json | undefined, marks: readonly string[]): ReadonlyMap<string, string> {
  const found = marks.flatMap((mark) => marked(config ?? {}, mark));
  return new Map(
    found.flatMap(({ pointer, value }) => {
      const url = typeof value === 'string' ? URL.parse(value) : null;
      return url && url.username === '' && url.password === '' ? [[pointer, String(value)] as const] : [];
    }),
  );
}

/** Lists count as one value. */
function changedPointers(before: Json | undefined, after: Json | undefined, pointer: string): readonly string[] {
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      changedPointers(memberOf(before, name), memberOf(after, name), child(pointer, name)),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [pointer];
}

function memberOf(object: Json & object, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined;
}

/** Middlewares of gw that may refuse a request that was accepted, besides those that authenticate. */
const REFUSING: ReadonlySet<string> = new Set([
  'acl',
  'ai-cost-tracker',
  'ai-prompt-guard',
  'ai-prompt-template',
  'ai-response-guard',
  'ai-token-limit',
  'bot-detection',
  'cel',
  'cors',
  'graphql',
  'ip-restriction',
  'rate-limit',
  'request-size-limit',
  'token-exchange',
  'waf',
]);

/** Middlewares of gw that do not refuse accepted requests, or only callers without credentials. */
const OTHER_BUILT_IN: ReadonlySet<string> = new Set([
  ...['ai-cache', 'cache', 'correlation-id', 'fire-and-forget', 'http-log', 'observability'],
  ...['request-transformer', 'response-transformer'],
  ...['apikey-auth', 'basic-auth', 'hmac-auth', 'jwt-auth', 'ldap-auth', 'mtls-auth', 'oauth2-auth', 'oidc-auth'],
]);

/** Reports whether a middleware's effects are unknown. */
export function isCustom(name: string): boolean {
  return !REFUSING.has(name) && !OTHER_BUILT_IN.has(name);
}

/** Without it browsers let no page of another origin read the answer. */
const LETS_BROWSERS_IN = 'cors';
