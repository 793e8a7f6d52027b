/** What a command may do to the process around it; main.ts has the only real one. */
export interface Program {
  readonly env: Readonly<Record<string, string | undefined>>;
  stdout(text: string): void;
  stderr(text: string): void;
  exit(code: number): void;
  onSignal(signal: NodeJS.Signals, listener: () => void): void;
}

export const EXIT_FAILURE = 1;
/** A secret reference does not resolve at start (reference 1, section 2.5). */
export const EXIT_SECRET = 13;
