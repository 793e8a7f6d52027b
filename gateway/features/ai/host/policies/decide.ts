/** Decides on a request by a policy: with its body, and with an answer that clients of the AI gateway understand. */

import { answerWith, type Call, type Exchange, Interrupted } from '../../../kit.ts';
import { AiRefusal } from '../proxy/conversation/refusal.ts';
import { filesRequest } from '../proxy/files/files-request.ts';
import { problemFor } from '../proxy/surfaces/problem-for.ts';
import { unsupportedPath } from '../proxy/surfaces/unsupported-paths.ts';
import type { Decision } from './decision.ts';
import type { FilesRule } from './files-rule.ts';
import { isRealtime, unreadSession } from './unread-sessions.ts';

/** Slow senders have limits of their own, and so has whatever else is waited for. */
const DEADLINE_MS = 86_400_000;
/** Bytes of a body from which on parsing may take more than some milliseconds. */
const LONG = 128 << 10;
const PASSES = 0;
const ANSWERS = 1;

export type Rule = (exchange: Exchange) => Decision | Promise<Decision>;

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
  const exchange = call.request();
  const settle = (decision: Decision) => {
    if (decision === null) return PASSES;
    answerWith(call, decision instanceof AiRefusal ? { problem: problemFor(exchange, decision.problem) } : decision);
    return ANSWERS;
  };
  const decision = decisionOf(call, exchange, rules);
  return decision instanceof Promise ? call.wait(decision, DEADLINE_MS, settle) : settle(decision);
}

/** The refusal that takes the place of an answer; null if the answer passes. */
export type AnswerCheck = AiRefusal | null | Promise<AiRefusal | null>;

/** Returns 1 if a problem takes the place of the answer. */
export function settleAnswer(call: Call, exchange: Exchange, refusal: AnswerCheck): number | Promise<number> {
  const settle = (found: AiRefusal | null) => {
    if (found === null) return PASSES;
    answerWith(call, { problem: problemFor(exchange, found.problem) });
    return ANSWERS;
  };
  return refusal instanceof Promise ? call.wait(refusal, DEADLINE_MS, settle) : settle(refusal);
}

function decisionOf(call: Call, exchange: Exchange, rules: Rules): Decision | Promise<Decision> {
  const request = filesRequest(exchange);
  if (request !== null) return apply(() => rules.files(exchange, request));
  const { session = ofUnread(call), body } = rules;
  if (isRealtime(exchange)) return apply(() => session(exchange));
  if (exchange.body === null) return read(call, exchange).then(() => ofBody(exchange, body));
  return exchange.body.length > LONG ? inNextTurn(exchange, body) : ofBody(exchange, body);
}

function ofUnread({ binding }: Call): Rule {
  return () => unreadSession(binding.name, binding.config.whole);
}

async function read(call: Call, exchange: Exchange): Promise<void> {
  const body = await exchange.readBody();
  if (exchange.bodyStream !== null) exchange.body ??= body;
  call.charge(body.length);
}

/** Others have their turn between two policies that read the body. */
async function inNextTurn(exchange: Exchange, rule: Rule): Promise<Decision> {
  await new Promise((resolve) => setImmediate(resolve));
  if (exchange.closed) throw new Interrupted('the client has gone');
  return ofBody(exchange, rule);
}

function ofBody(exchange: Exchange, rule: Rule): Decision | Promise<Decision> {
  if (exchange.body === null) return null;
  const unserved = unsupportedPath(exchange.path);
  if (unserved !== null) return unserved;
  if (exchange.refusesJson(true)) throw new Interrupted('the body has a member twice');
  return apply(() => rule(exchange));
}

function apply(rule: () => Decision | Promise<Decision>): Decision | Promise<Decision> {
  try {
    const decision = rule();
    return decision instanceof Promise ? decision.catch(refusalOf) : decision;
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): AiRefusal {
  if (error instanceof AiRefusal) return error;
  throw error;
}
