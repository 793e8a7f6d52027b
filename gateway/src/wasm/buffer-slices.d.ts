/**
 * Methods of Node.js' Buffer that its types lack. `toString` leads to them, and takes longer to find out which than they
 * take for a short text.
 */
declare interface Buffer {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
}
