/** Runs one case against a plugin, and reports differences between its result and the expectations. */
import { isDeepStrictEqual } from 'node:util';
import {
  type HookCall,
  type HookRequest,
  type HookResult,
  type PluginKit,
  UnstubbedHttpCall,
} from '../../../sdk/testing/index.ts';
import { isObject } from '../../spec/json.ts';
import { messageOf } from '../../text/message-of.ts';
import type { CaseHook, Expected, PluginCase } from './cases.ts';

export interface Difference {
  /** Place in the expectations: `answer.status`. */
  readonly at: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export interface CaseRun {
  /** Empty if the case passes. */
  readonly differences: readonly Difference[];
  /** Result of the call; null if the config was refused. */
  readonly result: HookResult | null;
}

export async function runCase(kit: PluginKit, each: PluginCase, hook: CaseHook): Promise<CaseRun> {
  const { config_error: refusal, ...expected } = each.expect;
  const reason = await refusalOf(kit, each);
  if (refusal !== undefined || reason !== null) {
    const fits = refusal !== undefined && reason?.includes(refusal);
    return {
      differences: fits ? [] : [{ at: 'config_error', expected: refusal ?? null, actual: reason }],
      result: null,
    };
  }
  try {
    const result = await kit.call(callOf(each, hook));
    return { differences: differences(expected, result), result };
  } catch (error) {
    if (!(error instanceof UnstubbedHttpCall)) throw error;
    return { differences: [unstubbed(error)], result: error.result };
  }
}

/** Returns the only difference of a case without an answer for a call: the rest of its result is meaningless. */
function unstubbed({ call: { method, url } }: UnstubbedHttpCall): Difference {
  return {
    at: `http_calls has no answer to ${method} ${url}. Add one to the case`,
    expected: [{ url, status: 200, json: {} }],
    actual: null,
  };
}

async function refusalOf(kit: PluginKit, { config = {} }: PluginCase): Promise<string | null> {
  try {
    (await kit.bind(config)).close();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** The call that the case describes. */
export function callOf(
  { config, request = {}, response, http_calls: httpCalls }: PluginCase,
  hook: CaseHook,
): HookCall {
  const { client_ip, operation, body, ...rest } = request;
  const { operation_id, ...matched } = operation ?? { path: '' };
  const init: HookRequest = {
    ...rest,
    ...(config ? { config } : {}),
    ...(body === undefined ? {} : { body: textOf(body) }),
    ...(client_ip === undefined ? {} : { clientIp: client_ip }),
    ...(httpCalls ? { httpCalls } : {}),
    ...(operation
      ? { operation: { ...matched, ...(operation_id === undefined ? {} : { operationId: operation_id }) } }
      : {}),
  };
  if (hook !== 'on_response') return { hook: hook === 'dispatch' ? 'dispatch' : 'onRequest', request: init };
  const { status = 200, headers, body: answered } = response ?? {};
  const sent = {
    status,
    ...(headers ? { headers } : {}),
    ...(answered === undefined ? {} : { body: textOf(answered) }),
  };
  return { hook: 'onResponse', request: { ...init, response: sent } };
}

/** Text as it is; all else is JSON. */
function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function differences(expected: Omit<Expected, 'config_error'>, result: HookResult): readonly Difference[] {
  const actual = observed(result);
  return Object.entries(expected).flatMap(([name, value]) => {
    const found = Object.entries(actual).find(([each]) => each === name)?.[1];
    if (name === 'logs') return missingLines(value, found);
    if (name === 'http_calls') return compareCalls(value, found);
    return compare(name, value, found);
  });
}

/** Returns the first difference between two calls of one case, in the order of the calls; null if they end alike. */
export function firstDifference(one: HookResult, other: HookResult): Difference | null {
  const [first, second] = [observed(one), observed(other)];
  const [missing] = compare('', first, second);
  const [added] = compare('', second, first).map(({ at, expected, actual }) => ({
    at,
    expected: actual,
    actual: expected,
  }));
  const found = missing ?? added;
  return found ? { ...found, at: found.at.slice(1) } : null;
}

/** Returns the result of a call, as cases name it. */
function observed(result: HookResult): Readonly<Record<keyof Omit<Expected, 'config_error'>, unknown>> {
  return {
    outcome: result.outcome,
    answer: result.answer && withJson(result.answer),
    response_headers: { ...result.staged, ...(result.answer?.headers ?? {}) },
    request_headers: result.requestHeaders,
    request_body: result.requestBody,
    query: result.query ?? null,
    context: result.context,
    hand_off: result.handOff,
    response: withJson(result.response),
    http_calls: result.httpCalls.map(withJson),
    logs: result.logs.map(({ message }) => message),
  };
}

function withJson<Message extends { readonly body: string }>(answer: Message) {
  let json: unknown;
  try {
    json = JSON.parse(answer.body);
  } catch {
    json = null;
  }
  return { ...answer, json };
}

function missingLines(expected: unknown, lines: unknown): readonly Difference[] {
  const all = Array.isArray(lines) ? lines.map(String) : [];
  const wanted = Array.isArray(expected) ? expected.map(String) : [];
  return wanted
    .filter((text) => !all.some((line) => line.includes(text)))
    .map((text) => ({ at: 'logs', expected: text, actual: all }));
}

/** Call by call, each by the members that are expected. */
function compareCalls(expected: unknown, actual: unknown): readonly Difference[] {
  const [wanted, made] = [expected, actual].map((calls): readonly unknown[] => (Array.isArray(calls) ? calls : []));
  if (wanted?.length !== made?.length) return [{ at: 'http_calls', expected, actual }];
  return (wanted ?? []).flatMap((call, index) => compare(`http_calls.${index}`, call, made?.[index]));
}

/** Objects by the members that are expected (null: absent), all else exactly. Header names in any case. */
function compare(at: string, expected: unknown, actual: unknown): readonly Difference[] {
  if (!isObject(expected))
    return isDeepStrictEqual(expected, actual ?? null) ? [] : [{ at, expected, actual: actual ?? null }];
  if (!isObject(actual)) return [{ at, expected, actual: actual ?? null }];
  return Object.entries(expected).flatMap(([name, value]) => {
    const key = /headers$/.test(at) ? name.toLowerCase() : name;
    return compare(`${at}.${name}`, value, Object.hasOwn(actual, key) ? actual[key] : null);
  });
}
