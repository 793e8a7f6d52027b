/** Lines of a stream of any length, such as a log. */

/** Most bytes of a line; a longer one is not read. */
const MOST_BYTES = 1 << 20;
const LINE_END = 10;
const NOTHING = Buffer.alloc(0);

/** Calls `take` with each line, without its end; with null for one that is too long. */
export async function eachLine(source: AsyncIterable<Uint8Array>, take: (line: Buffer | null) => void): Promise<void> {
  let rest: Buffer = NOTHING;
  let isTooLong = false;
  for await (const chunk of source) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, from)) {
      take(isTooLong || end - from > MOST_BYTES ? null : bytes.subarray(from, end));
      isTooLong = false;
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (isTooLong || rest.length > MOST_BYTES) {
      isTooLong = rest.length > 0;
      rest = NOTHING;
    }
  }
  if (isTooLong || rest.length > 0) take(isTooLong ? null : rest);
}
