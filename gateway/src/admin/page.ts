/** Answers of the admin port. */
import type { HeaderList } from '../exchange.ts';
import { type Problem, renderProblem } from '../problems.ts';

export interface Page {
  readonly status: number;
  /** Content type. */
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: HeaderList;
}

export function jsonPage(status: number, value: unknown): Page {
  return { status, type: 'application/json', body: JSON.stringify(value) };
}

export function problemPage(refusal: Problem): Page {
  return { status: refusal.status, type: 'application/problem+json', body: renderProblem(refusal) };
}
