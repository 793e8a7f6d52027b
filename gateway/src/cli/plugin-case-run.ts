/** Runs one case against a plugin, and says where what came of it differs from what was expected. */
import { isDeepStrictEqual } from 'node:util';
import type { HookRequest, HookResult, PluginKit } from '../../sdk/testing/index.ts';
import { messageOf } from '../message-of.ts';
import { isObject } from '../spec/json.ts';
import type { CaseHook, Expected, PluginCase } from './plugin-cases.ts';

export interface Difference {
  /** Of what was expected: `answer.status`. */
  readonly at: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** None where the case holds. */
export async function runCase(kit: PluginKit, each: PluginCase, hook: CaseHook): Promise<readonly Difference[]> {
  const { config_error: refusal, ...expected } = each.expect;
  const reason = await refusalOf(kit, each);
  if (refusal !== undefined || reason !== null) {
    const fits = refusal !== undefined && reason?.includes(refusal);
    return fits ? [] : [{ at: 'config_error', expected: refusal ?? null, actual: reason }];
  }
  return differences(expected, await call(kit, each, hook));
}

async function refusalOf(kit: PluginKit, { config = {} }: PluginCase): Promise<string | null> {
  try {
    (await kit.bind(config)).close();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

async function call(
  kit: PluginKit,
  { config, request = {}, response }: PluginCase,
  hook: CaseHook,
): Promise<HookResult> {
  const { client_ip, operation, body, ...rest } = request;
  const { operation_id, ...matched } = operation ?? { path: '' };
  const init: HookRequest = {
    ...rest,
    ...(config ? { config } : {}),
    ...(body === undefined ? {} : { body: textOf(body) }),
    ...(client_ip === undefined ? {} : { clientIp: client_ip }),
    ...(operation
      ? { operation: { ...matched, ...(operation_id === undefined ? {} : { operationId: operation_id }) } }
      : {}),
  };
  if (hook === 'dispatch') return kit.dispatch(init);
  if (hook === 'on_request') return kit.onRequest(init);
  const { status = 200, headers, body: answered } = response ?? {};
  const sent = {
    status,
    ...(headers ? { headers } : {}),
    ...(answered === undefined ? {} : { body: textOf(answered) }),
  };
  return kit.onResponse({ ...init, response: sent });
}

/** Text as it is; all else is JSON. */
function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function differences(expected: Omit<Expected, 'config_error'>, result: HookResult): readonly Difference[] {
  const actual: Readonly<Record<keyof typeof expected, unknown>> = {
    outcome: result.outcome,
    answer: result.answer && withJson(result.answer),
    response_headers: { ...result.staged, ...(result.answer?.headers ?? {}) },
    request_headers: result.requestHeaders,
    request_body: result.requestBody,
    query: result.query ?? null,
    context: result.context,
    hand_off: result.handOff,
    response: withJson(result.response),
    logs: result.logs.map(({ message }) => message),
  };
  return Object.entries(expected).flatMap(([name, value]) => {
    const found = Object.entries(actual).find(([each]) => each === name)?.[1];
    if (name === 'logs') return missingLines(value, found);
    return compare(name, value, found);
  });
}

function withJson(answer: { readonly status: number; readonly headers: object; readonly body: string }) {
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
