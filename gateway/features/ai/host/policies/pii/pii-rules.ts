/** Actions on personal data, by kind: a policy's settings. */
import { createHmac } from 'node:crypto';
import type { Json } from '../../../../kit.ts';
import { objectOf } from '../profiles.ts';
import { DETECTORS, PII_KINDS, type PiiKind } from './kinds.ts';

export const PII_ACTIONS = ['redact', 'mask', 'hash', 'block'] as const;
export type PiiAction = (typeof PII_ACTIONS)[number];

/** Letters and digits at the end that a mask leaves. */
const SHOWN = 4;
/** Hexadecimal digits of a hash: one in a trillion is another's. */
const HASH_LENGTH = 12;

/** The kinds to search for, and their replacements. */
export interface PiiReplacing {
  /** In the order in which detectors are asked. */
  readonly kinds: readonly (readonly [kind: PiiKind, action: PiiAction])[];
  /** No quotes, backslashes or ends of lines are in it. */
  replacement(kind: PiiKind, action: PiiAction, found: string): string;
}

export class PiiRules implements PiiReplacing {
  readonly kinds: PiiReplacing['kinds'];
  readonly #hashKey: string;

  /** Throws if a kind is to be hashed, and there is no key. */
  constructor(actions: Json | undefined, hashKey: Json | undefined) {
    const wanted = objectOf(actions);
    const order = Object.keys(DETECTORS);
    this.kinds = PII_KINDS.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)).flatMap((kind) => {
      const action = PII_ACTIONS.find((each) => each === wanted[kind]);
      return action === undefined ? [] : [[kind, action] as const];
    });
    if (this.kinds.some(([, action]) => action === 'hash') && typeof hashKey !== 'string') {
      throw new Error('hash_key is required where a kind is hashed');
    }
    this.#hashKey = String(hashKey);
  }

  get isEmpty(): boolean {
    return this.kinds.length === 0;
  }

  replacement(kind: PiiKind, action: PiiAction, found: string): string {
    const name = kind.toUpperCase();
    if (action === 'mask') return mask(kind, found);
    if (action !== 'hash') return `[${name}]`;
    const digest = createHmac('sha256', this.#hashKey)
      .update(`${kind}:${canonical(kind, found)}`)
      .digest('hex');
    return `[${name}:${digest.slice(0, HASH_LENGTH)}]`;
  }
}

/** Normalises a value, so that equal values have the same hash. */
function canonical(kind: PiiKind, found: string): string {
  if (kind === 'api_key') return found;
  const lower = found.toLowerCase();
  return kind === 'email' ? lower : lower.replace(/[^a-z0-9+]/g, '');
}

function mask(kind: PiiKind, found: string): string {
  if (kind === 'email') return `${found.charAt(0)}***${found.slice(found.indexOf('@'))}`;
  let left = found.replace(/[^A-Za-z0-9]/g, '').length - SHOWN;
  return found.replace(/[A-Za-z0-9]/g, (character) => (left-- > 0 ? '*' : character));
}
