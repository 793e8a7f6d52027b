/** Sources that cannot be read, with the reason for conditions. */
import type { ReasonName } from './reasons.ts';

/** Why a source cannot be read; becomes the Accepted condition unchanged. */
export interface Refusal {
  readonly reason: ReasonName;
  readonly message: string;
}

export type Read<T> = ({ readonly ok: true } & T) | ({ readonly ok: false } & Refusal);

export function refuse(reason: ReasonName, message: string): { readonly ok: false } & Refusal {
  return { ok: false, reason, message };
}
