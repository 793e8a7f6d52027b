import { readWhole } from '../../read-whole.ts';

/** Reads standard input as a whole; rejects if it is too long. */
export function readStandardInput(input: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  return readWhole(input, most, () => new Error(`standard input is longer than ${most} bytes`));
}
