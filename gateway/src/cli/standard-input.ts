import { readWhole } from '../read-whole.ts';

/** Standard input as a whole, where it is not too long. */
export function readStandardInput(input: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  return readWhole(input, most, () => new Error(`standard input is longer than ${most} bytes`));
}
