/** Decides on a request by a policy: with its body, and with an answer that clients of the AI gateway understand. */
import { type Exchange, Interrupted } from '../../../../src/exchange.ts';
import type { Call } from '../../../../src/wasm/call/call.ts';
import { answerWith } from '../../../../src/wasm/host/response.ts';
import { AiRefused } from '../proxy/conversation/refusal.ts';
import { filesRequest } from '../proxy/files/files-request.ts';
import { notServed } from '../proxy/surfaces/not-served.ts';
import { problemFor } from '../proxy/surfaces/problem-for.ts';
import type { Decision } from './decision.ts';
import type { FilesRule } from './files-rule.ts';
import { isRealtime, unreadSession } from './unread-sessions.ts';

/** Slow senders have limits of their own, and so has whatever else is waited for. */
const DEADLINE_MS = 86_400_000;
const PASSES = 0;
const ANSWERS = 1;

export type Rule = (x: Exchange) => Decision | Promise<Decision>;

/** Decisions of a policy by kind of request. */
export interface Rules {
  /** Requests with a body, which has been read. */
  readonly body: Rule;
  /** Files and batches, whose body is not read. */
  readonly files: FilesRule;
  /** The handshake of a realtime session. Default: it passes if the config lets it pass unread. */
  readonly session?: Rule;
}

/** Returns 1 if the request has its answer. Requests without a body pass. */
export function decide(call: Call, rules: Rules): number | Promise<number> {
  const x = call.request();
  const settle = (decision: Decision) => {
    if (decision === null) return PASSES;
    answerWith(call, decision instanceof AiRefused ? { problem: problemFor(x, decision.problem) } : decision);
    return ANSWERS;
  };
  const decision = decided(call, x, rules);
  return decision instanceof Promise ? call.wait(decision, DEADLINE_MS, settle) : settle(decision);
}

/** 1 if a problem takes the place of the answer. */
export function settleAnswer(
  call: Call,
  x: Exchange,
  refusal: AiRefused | null | Promise<AiRefused | null>,
): number | Promise<number> {
  const settle = (found: AiRefused | null) => {
    if (found === null) return PASSES;
    answerWith(call, { problem: problemFor(x, found.problem) });
    return ANSWERS;
  };
  return refusal instanceof Promise ? call.wait(refusal, DEADLINE_MS, settle) : settle(refusal);
}

function decided(call: Call, x: Exchange, rules: Rules): Decision | Promise<Decision> {
  const request = filesRequest(x);
  if (request !== null) return ruled(() => rules.files(x, request));
  const { session = ofUnread(call), body } = rules;
  if (isRealtime(x)) return ruled(() => session(x));
  return x.body === null ? read(call, x).then(() => ofBody(x, body)) : ofBody(x, body);
}

function ofUnread({ binding }: Call): Rule {
  return () => unreadSession(binding.name, binding.config.whole);
}

async function read(call: Call, x: Exchange): Promise<void> {
  const body = await x.readBody();
  if (x.bodyStream !== null) x.body ??= body;
  call.charge(body.length);
}

function ofBody(x: Exchange, rule: Rule): Decision | Promise<Decision> {
  if (x.body === null) return null;
  const unserved = notServed(x.path);
  if (unserved !== null) return unserved;
  if (x.refusesJson(true)) throw new Interrupted('the body has a member twice');
  return ruled(() => rule(x));
}

function ruled(rule: () => Decision | Promise<Decision>): Decision | Promise<Decision> {
  try {
    const decision = rule();
    return decision instanceof Promise ? decision.catch(refusalOf) : decision;
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): AiRefused {
  if (error instanceof AiRefused) return error;
  throw error;
}
