/** Returns the code of an error of Node.js, such as ENOENT; undefined if it has no code. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
