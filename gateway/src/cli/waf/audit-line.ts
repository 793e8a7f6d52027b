/** Lines of the access log with the member `waf` (docs/reference/plugins.md#waf). */
import { clientNetwork } from '../../client-network.ts';
import { get, isObject } from '../../spec/json.ts';

const OUTCOMES = ['denied', 'would-deny', 'limit', 'matched', 'passed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A rule that matched, at a place. */
export interface AuditMatch {
  readonly id: number;
  readonly msg: string;
  readonly tags: readonly string[];
  /** Such as `ARGS:q`; empty if the rule has no target. */
  readonly variable: string;
}

export interface AuditLine {
  readonly time: string;
  readonly requestId: string;
  /** Network of the client. */
  readonly network: string;
  readonly method: string;
  /** Path template. */
  readonly route: string;
  readonly api: string;
  readonly path: string;
  readonly outcome: Outcome;
  readonly inbound: number;
  readonly outbound: number;
  readonly matches: readonly AuditMatch[];
}

/** The begin of the member, as the gateway writes it: `path` and others cannot hold it, since their quotes are escaped. */
const MEMBER = '"waf":{';

/**
 * Returns null for a line without the member, undefined for one that cannot be read. Text before the JSON, such as the
 * time that a container runtime adds, is skipped.
 */
export function auditLineOf(line: Buffer): AuditLine | null | undefined {
  if (!line.includes(MEMBER)) return null;
  let entry: unknown;
  try {
    entry = JSON.parse(line.toString('utf8', Math.max(0, line.indexOf('{'))));
  } catch {
    return undefined;
  }
  const waf = get(entry, 'waf');
  const outcome = OUTCOMES.find((each) => each === get(waf, 'outcome'));
  const [method, route] = [textAt(entry, 'method'), textAt(entry, 'route')];
  if (outcome === undefined || method === '' || route === '') return undefined;
  return {
    time: textAt(entry, 'time'),
    requestId: textAt(entry, 'request_id'),
    network: clientNetwork(textAt(entry, 'client_ip')),
    // An operation of GET answers HEAD, too.
    method: method === 'HEAD' ? 'GET' : method,
    route,
    api: textAt(entry, 'api'),
    path: textAt(entry, 'path'),
    outcome,
    inbound: numberAt(waf, 'inbound'),
    outbound: numberAt(waf, 'outbound'),
    matches: listAt(waf, 'rules').flatMap(matchesOf),
  };
}

function matchesOf(rule: unknown): readonly AuditMatch[] {
  const id = get(rule, 'id');
  if (typeof id !== 'number' || !isObject(rule)) return [];
  const tags = listAt(rule, 'tags').filter((tag) => typeof tag === 'string');
  const msg = textAt(rule, 'msg');
  const variables = listAt(rule, 'matched').map((matched) => textAt(matched, 'variable'));
  // A rule without a target, such as that of SecAction, matches at none.
  return (variables.length === 0 ? [''] : variables).map((variable) => ({ id, msg, tags, variable }));
}

function textAt(value: unknown, name: string): string {
  const text = get(value, name);
  return typeof text === 'string' ? text : '';
}

function numberAt(value: unknown, name: string): number {
  const number = get(value, name);
  return typeof number === 'number' ? number : 0;
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const list = get(value, name);
  return Array.isArray(list) ? list : [];
}
