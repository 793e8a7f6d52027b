/** Text in queries. */

/** Returns a LIKE pattern that matches texts containing this one, with any characters. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/**
 * Returns JSON that `jsonb` accepts: NUL and halves of surrogate pairs, which documents may contain, become replacement
 * characters. For text that people read, not for computation.
 */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'string' ? each.replaceAll('\0', '\ufffd').toWellFormed() : each,
  );
}
