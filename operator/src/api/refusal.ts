/** What cannot be read, with the reason that conditions tell of it. */
import type { ReasonName } from './reasons.ts';

/** Why there is nothing to read; goes into the Accepted condition as it is. */
export interface Refusal {
  readonly reason: ReasonName;
  readonly message: string;
}

export type Read<T> = ({ readonly ok: true } & T) | ({ readonly ok: false } & Refusal);

export function refuse(reason: ReasonName, message: string): { readonly ok: false } & Refusal {
  return { ok: false, reason, message };
}
