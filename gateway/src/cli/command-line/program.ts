/** Effects of a command on its process; main.ts has the only real one. */
export interface Program {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads standard input, whole, when it has ended. Rejects if it is longer than `most` bytes. */
  stdin(most: number): Promise<Uint8Array>;
  /** Reads standard input as it arrives, whatever its length. */
  input(): AsyncIterable<Uint8Array>;
  stdout(output: string | Uint8Array): void;
  stderr(text: string): void;
  exit(code: number): void;
  onSignal(signal: NodeJS.Signals, listener: () => void): void;
}

export const EXIT_FAILURE = 1;
/** The manifest or a plugin cannot be used (docs/decisions.md#exit-codes). */
export const EXIT_MANIFEST = 2;
/** A secret reference does not resolve at start (docs/reference/gateway.md#secrets). */
export const EXIT_SECRET = 13;
