/** How a policy decides on a request: with its body, and with an answer that clients of the AI gateway understand. */
import { type Answer, type Exchange, Interrupted } from '../../exchange.ts';
import type { Call } from '../../wasm/call/call.ts';
import { answerWith } from '../../wasm/host/response.ts';
import { AiRefused } from '../ai/conversation/refusal.ts';
import { notServed } from '../ai/surfaces/not-served.ts';
import { problemFor } from '../ai/surfaces/problem-for.ts';
import { isRealtime, unreadSession } from './unread-sessions.ts';

/** Slow senders have limits of their own, and so has whatever else is waited for. */
const DEADLINE_MS = 86_400_000;
const PASSES = 0;
const ANSWERS = 1;

/** What the request gets: why it is refused, or an answer; null: it goes on. */
export type Decision = AiRefused | Answer | null;

export type Rule = (x: Exchange) => Decision | Promise<Decision>;

/**
 * 1 where the request has its answer. What has no body passes. A file is refused, and so is a batch: its prompts are where
 * no policy looks. `onSession`: what holds for the handshake of a realtime session.
 */
export function decide(call: Call, rule: Rule, onSession: Rule = ofUnread(call)): number | Promise<number> {
  const x = call.request();
  const settle = (decision: Decision) => {
    if (decision === null) return PASSES;
    answerWith(call, decision instanceof AiRefused ? { problem: problemFor(x, decision.problem) } : decision);
    return ANSWERS;
  };
  const decision = decisionOn(call, x, rule, onSession);
  return decision instanceof Promise ? call.wait(decision, DEADLINE_MS, settle) : settle(decision);
}

function decisionOn(call: Call, x: Exchange, rule: Rule, onSession: Rule): Decision | Promise<Decision> {
  if (isRealtime(x)) return obeyed(x, onSession);
  return x.body === null ? read(call, x).then(() => ruled(x, rule)) : ruled(x, rule);
}

function ofUnread({ binding }: Call): Rule {
  return () => unreadSession(binding.name, binding.config.whole);
}

async function read(call: Call, x: Exchange): Promise<void> {
  const body = await x.readBody();
  if (x.bodyStream !== null) x.body ??= body;
  call.charge(body.length);
}

function ruled(x: Exchange, rule: Rule): Decision | Promise<Decision> {
  if (x.body === null) return null;
  const unserved = notServed(x.path);
  if (unserved !== null) return unserved;
  if (x.refusesJson(true)) throw new Interrupted('the body has a member twice');
  return obeyed(x, rule);
}

function obeyed(x: Exchange, rule: Rule): Decision | Promise<Decision> {
  try {
    const decision = rule(x);
    return decision instanceof Promise ? decision.catch(refusalOf) : decision;
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): AiRefused {
  if (error instanceof AiRefused) return error;
  throw error;
}
