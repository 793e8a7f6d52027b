/** Reads a request's body into memory, once, within the limits, and validates it (docs/decisions.md#request-order). */

import type { BodyStream, Exchange } from '../exchange.ts';
import { headerOf, Interrupted, problemOf } from '../exchange.ts';
import { isJson, mediaTypeOf } from '../headers/media-type.ts';
import { RepeatedMember } from '../json/escaped-names.ts';
import { repeatsName } from '../json/member-names.ts';
import type { BufferBudget } from '../memory/buffer-budget.ts';
import { type Problem, problem } from '../problems.ts';
import type { RequestTrace } from '../spans/request-trace.ts';
import { ByteCollector } from '../streams/byte-collector.ts';
import type { EventLoopWatch } from '../telemetry/event-loop.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';
import { BodyTooLarge } from '../transport/body.ts';
import { type ArrivingBodies, BodyRefused } from './arriving-bodies.ts';
import type { BodyFault, BodyValidator } from './body.ts';
import { invalid, notPrepared, pastDeadline, tooManySteps, validationOverloaded } from './refusals.ts';

export interface BodyReading {
  readonly validator: BodyValidator | null;
  /** Budget of bodies in memory, over the process. */
  readonly budget: BufferBudget;
  readonly arriving: ArrivingBodies;
  readonly maxBodySize: number;
  /** A plugin has authenticated the request. */
  readonly authenticated: boolean;
  readonly loop: EventLoopWatch;
  refuse(exchange: Exchange, reason: ValidationReason, answer: Problem): void;
}

const NOTHING = new Uint8Array(0);

/** Reports whether the body must be read before the dispatcher may see it; undefined if it was refused. */
export function needsReading(exchange: Exchange, reading: BodyReading): boolean | undefined {
  const { validator } = reading;
  if (!validator) return false;
  if (exchange.bodyStream === null) {
    if (!validator.required) return false;
    refuseFault(exchange, reading, { kind: 'invalid', errors: [{ in: 'body', field: '/', reason: 'is required' }] });
    return undefined;
  }
  const head = validator.head(
    headerOf(exchange.headers, 'content-type'),
    headerOf(exchange.headers, 'content-encoding'),
  );
  if ('reads' in head) return head.reads;
  refuseFault(exchange, reading, head);
  return undefined;
}

/** The value for `Exchange.refusesJson`: looks at the body as it was sent, once. */
function jsonCheck(exchange: Exchange, reading: BodyReading, sent: Uint8Array): (ofAnyType: boolean) => boolean {
  let repeats: boolean | undefined;
  return (ofAnyType) => {
    // A plugin's replacement is not the client's body, and a compressed body is not text.
    if (exchange.body !== sent || headerOf(exchange.headers, 'content-encoding') !== undefined) return false;
    if (!ofAnyType && !isJson(mediaTypeOf(headerOf(exchange.headers, 'content-type')))) return false;
    repeats ??= repeatsName(sent);
    if (!repeats) return false;
    const reason = new RepeatedMember().message;
    refuseFault(exchange, reading, { kind: 'invalid', errors: [{ in: 'body', field: '/', reason }] });
    return true;
  };
}

/** The value for `Exchange.readBody`. */
export function bodyReader(exchange: Exchange, reading: BodyReading): () => Promise<Uint8Array> {
  let pending: Promise<Uint8Array> | undefined;
  return () => {
    pending ??= exchange.trace === null ? read(exchange, reading) : tracedRead(exchange, reading, exchange.trace);
    return pending;
  };
}

async function tracedRead(exchange: Exchange, reading: BodyReading, trace: RequestTrace): Promise<Uint8Array> {
  const span = trace.child('validate body');
  try {
    const body = await read(exchange, reading);
    trace.ended(span, 'valid');
    return body;
  } catch (error) {
    trace.ended(span, 'refused', problemOf(exchange.answer));
    throw error;
  }
}

async function read(exchange: Exchange, reading: BodyReading): Promise<Uint8Array> {
  const reads = needsReading(exchange, reading);
  if (reads === undefined) throw new Interrupted('the body is not valid');
  const stream = exchange.bodyStream;
  if (stream === null) return NOTHING;
  const body = takenWhole(exchange, reading, stream) ?? (await collected(exchange, reading, stream));
  if (exchange.inspectBody !== null && !(await exchange.inspectBody(body)))
    throw new Interrupted('the body was refused');
  const contentType = headerOf(exchange.headers, 'content-type');
  const asker = { clientIp: exchange.clientIp, authenticated: reading.authenticated, wanted: () => !exchange.closed };
  reading.loop.enters(exchange, 'body');
  const verdict = reads ? reading.validator?.validate(contentType, body, asker, exchange.patternSteps) : null;
  const fault = verdict instanceof Promise ? await verdict : verdict;
  if (exchange.closed) throw new Interrupted('the client has gone');
  if (fault) {
    refuseFault(exchange, reading, fault);
    throw new Interrupted('the body is not valid');
  }
  exchange.body = body;
  // A body validated as JSON has no repeated members.
  if (!reads || !isJson(mediaTypeOf(contentType))) exchange.refusesJson = jsonCheck(exchange, reading, body);
  return body;
}

/** Returns null if the body has to be read as it arrives. */
function takenWhole(exchange: Exchange, reading: BodyReading, stream: BodyStream): Uint8Array | null {
  const whole = stream.takeWhole();
  if (whole === null || exchange.heldIn(reading.budget).take(whole.length)) return whole;
  throw notArrived(exchange, reading, new NoMemory());
}

async function collected(exchange: Exchange, reading: BodyReading, stream: BodyStream): Promise<Uint8Array> {
  const chunks = new ByteCollector();
  const holding = exchange.heldIn(reading.budget);
  const arriving = reading.arriving.add(stream);
  const whole = holding.evictable;
  holding.evictable = arriving;
  try {
    await eachChunk(stream, (chunk) => {
      chunks.add(chunk);
      return holding.take(chunk.length);
    });
  } catch (error) {
    throw notArrived(exchange, reading, error);
  } finally {
    // From now on the client does not delay its end.
    reading.arriving.delete(arriving);
    holding.evictable = whole;
  }
  return chunks.takeWhole();
}

/** Answers a request whose body cannot be read to its end. */
function notArrived(exchange: Exchange, reading: BodyReading, error: unknown): Interrupted {
  exchange.heldIn(reading.budget).release();
  if (error instanceof NoMemory) {
    const detail = 'The gateway has reached its limit of request bodies in memory. Try again.';
    exchange.answer = { problem: problem('overloaded', detail) };
  } else if (error instanceof BodyRefused) exchange.answer = { problem: error.problem };
  else if (error instanceof BodyTooLarge && error.limit !== null) {
    exchange.answer = { problem: pastLimit(error.received, error.limit) };
  } else if (error instanceof BodyTooLarge) {
    reading.refuse(exchange, 'body-size', tooLarge(error.received, reading.maxBodySize));
  }
  return new Interrupted('the body did not arrive', { cause: error });
}

class NoMemory extends Error {}

/**
 * Calls `take` with each chunk, and stops reading if that fails: NoMemory. Rejects if the body does not come to its
 * end. An iterator of the stream would do, but costs half as much as all other work on a short body.
 */
function eachChunk(stream: BodyStream, take: (chunk: Uint8Array) => boolean): Promise<void> {
  if (stream.destroyed) return Promise.reject(stream.errored ?? new Error('the body has broken off'));
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Uint8Array) => {
      if (!take(chunk)) stream.destroy(new NoMemory());
    });
    stream.on('end', resolve).on('error', reject);
    stream.on('close', () => reject(new Error('the body has broken off')));
  });
}

export function tooLarge(actual: number, limit: number): Problem {
  const detail = `The request body has ${actual} bytes or more; the limit is ${limit} bytes.`;
  const reason = `has ${actual} bytes or more; --max-body-size is ${limit}`;
  return problem('validation-failed', detail, { errors: [{ in: 'body', field: '/', reason }] });
}

/** The body is longer than a plugin allows (`request_body_limit`). */
export function pastLimit(actual: number, limit: number): Problem {
  return problem('payload-too-large', `The request body has ${actual} bytes or more; the limit is ${limit} bytes.`);
}

/** Reports whether a plugin limits the body, it has not been read, and it may be longer than the limit. */
export function mustBeRead(exchange: Exchange, body: BodyStream): boolean {
  if (body.limit === Number.POSITIVE_INFINITY || body.readableDidRead || body.isRead) return false;
  // A body framed by Content-Length is not longer than that.
  return !(Number(headerOf(exchange.headers, 'content-length') ?? Number.NaN) <= body.limit);
}

/** Reads the body to its end without keeping it; returns the problem to answer with if it is past the limit. */
export async function readToLimit(exchange: Exchange, body: BodyStream): Promise<Problem | null> {
  try {
    for await (const _ of body);
  } catch (error) {
    if (error instanceof BodyTooLarge) return pastLimit(error.received, error.limit ?? body.limit);
    if (!exchange.closed) throw error;
  }
  return null;
}

function refuseFault(exchange: Exchange, reading: BodyReading, fault: BodyFault): void {
  if (fault.kind === 'unsupported') {
    reading.refuse(exchange, 'content-type', problem('unsupported-media-type', fault.detail));
  } else if (fault.kind === 'overloaded') exchange.answer = { problem: validationOverloaded() };
  else if (fault.kind === 'unprepared') exchange.answer = { problem: notPrepared() };
  else if (fault.kind === 'steps') reading.refuse(exchange, 'pattern-steps', tooManySteps());
  else if (fault.kind === 'deadline') reading.refuse(exchange, 'deadline', pastDeadline());
  else if (fault.kind === 'invalid') reading.refuse(exchange, 'body', invalid(fault.errors));
}
