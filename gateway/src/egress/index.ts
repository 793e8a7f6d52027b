/**
 * HTTP calls through the egress guard, for programs that fetch URLs of their users
 * (docs/decisions.md#references-stay-inside, docs/decisions.md#egress-allow).
 */
export { BufferBudget } from '../memory/buffer-budget.ts';
export { createConnector, EgressRefused } from './connector.ts';
export { EgressGuard } from './guard.ts';
export { HttpCallError } from './http-call-error.ts';
export { type HttpAnswer, type HttpCall, HttpClient } from './http-client.ts';
export { limitInformational } from './informational-limit.ts';
