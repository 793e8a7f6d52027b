/** Text that the database can store: without NUL and halves of surrogate pairs, nested not too deeply. */
import type { FastifyRequest } from 'fastify';
import { ControlError } from '../errors.ts';

/** Levels of JSON; the database and JSON.stringify both take more. */
const MAX_DEPTH = 100;

/** Checks parameters and a JSON body: throws 422, as they would otherwise fail when they are stored or compared. */
export async function mustBeStorable({ params, query, body }: FastifyRequest): Promise<void> {
  checkStorable(params, 'the path');
  checkStorable(query, 'the query');
  checkStorable(body, 'the body');
}

/** `where`: names the value in the error. */
export function checkStorable(value: unknown, where: string): void {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let each = waiting.pop(); each; each = waiting.pop()) {
    const { value, depth } = each;
    if (typeof value === 'string') checkText(value, where);
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) continue;
    if (depth === MAX_DEPTH) throw new ControlError('unprocessable', `${where} is nested more than ${MAX_DEPTH} deep`);
    for (const [key, member] of Object.entries(value)) {
      checkText(key, where);
      waiting.push({ value: member, depth: depth + 1 });
    }
  }
}

function checkText(text: string, where: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw new ControlError('unprocessable', `${where} contains invalid text: a NUL character, or half a surrogate pair`);
}
