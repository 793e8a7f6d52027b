/** Texts of thrown values, which may be anything. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** As above for clients of libraries that wrap texts, which may be long: the first line, of 300 characters at most. */
export function firstLineOf(error: unknown): string {
  const [line = ''] = messageOf(error).split('\n');
  return line.slice(0, 300);
}
