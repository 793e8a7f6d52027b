/** Text in queries. */

/** Pattern of LIKE for what contains the text, whatever characters it has. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/**
 * JSON as `jsonb` takes it: NUL and halves of surrogate pairs, which documents may have and it cannot keep, are
 * replacement characters in it. For what people read, not for what is computed with.
 */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'string' ? each.replaceAll('\0', '\ufffd').toWellFormed() : each,
  );
}
