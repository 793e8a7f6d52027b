import { InvalidArgumentError } from 'commander';

/** Parses the number of a revision from the command line. */
export function revision(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) {
    throw new InvalidArgumentError('Give the number of a revision, as kubectl gw status shows them.');
  }
  return number;
}
