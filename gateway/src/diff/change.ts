/** Differences between two artifacts, for callers of the API. */

export interface Change {
  /** `POST /books`, `plugin rate-limit`, `mcp`, `tool listBooks`. */
  readonly subject: string;
  /**
   * Whether a correct client may fail now: an accepted request may be refused, lose something on its way, or get an
   * answer that was not described.
   */
  readonly breaking: boolean;
  readonly message: string;
}

export function breaking(subject: string, message: string): Change {
  return { subject, breaking: true, message };
}

export function harmless(subject: string, message: string): Change {
  return { subject, breaking: false, message };
}

/** In one order, whatever the order of the inputs. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the entries of one list that the other lacks. */
export function without<T>(list: readonly T[], other: readonly T[]): readonly T[] {
  return list.filter((each) => !other.includes(each));
}
