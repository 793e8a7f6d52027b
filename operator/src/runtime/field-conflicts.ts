/**
 * The operator's fields that another manager sets to other values. The first few times they are retaken at once, as a
 * hand edit needs. A manager that keeps setting them is left alone for growing times, so that two controllers do not
 * overwrite each other forever.
 */

import { isRecord } from '../kube/kube-object.ts';
import { ApiError } from './api-server.ts';
import type { FieldConflict } from './objects.ts';

/** Number of times that a conflict is settled at once. */
const PATIENCE = 3;
const FIRST_WAIT_MS = 30_000;
const MAX_WAIT_MS = 10 * 60_000;
/** Milliseconds after which a conflict counts as new. */
const FORGET_MS = 20 * 60_000;
const MAX_FIELDS = 10;

interface Fight {
  readonly manager: string;
  readonly fields: readonly string[];
  readonly times: number;
  readonly last: number;
}

/** Returns the manager and fields of a refused apply; undefined for another error. */
export function conflictOf(error: unknown): Pick<Fight, 'manager' | 'fields'> | undefined {
  if (!(error instanceof ApiError) || error.status !== 409 || !isRecord(error.body?.['details'])) return undefined;
  const causes: unknown = error.body['details']['causes'];
  if (!Array.isArray(causes)) return undefined;
  const found = causes.filter(isRecord).filter(({ reason }) => reason === 'FieldManagerConflict');
  if (found.length === 0) return undefined;
  return {
    manager: /"([^"]*)"/.exec(String(found[0]?.['message']))?.[1] ?? 'another manager',
    fields: found.slice(0, MAX_FIELDS).map(({ field }) => String(field)),
  };
}

export class FieldConflicts {
  readonly #fights = new Map<string, Fight>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Returns the fields that are left to another manager for now. */
  left(id: string): FieldConflict | undefined {
    const fight = this.#fights.get(id);
    if (!fight || fight.times < PATIENCE) return undefined;
    const { manager, fields, times, last } = fight;
    const retryMs = last + wait(times) - this.#now();
    return retryMs > 0 ? { manager, fields, times, left: true, retryMs } : undefined;
  }

  /** Records that the fields were retaken. */
  taken(id: string, { manager, fields }: Pick<Fight, 'manager' | 'fields'>): FieldConflict {
    const before = this.#fights.get(id);
    const now = this.#now();
    const times = before && now - before.last < FORGET_MS ? before.times + 1 : 1;
    this.#fights.set(id, { manager, fields, times, last: now });
    return { manager, fields, times, left: false };
  }

  forget(id: string): void {
    this.#fights.delete(id);
  }
}

function wait(times: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (times - PATIENCE));
}
