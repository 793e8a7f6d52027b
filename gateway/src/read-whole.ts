/** All of what comes in pieces. Throws what `tooLong` makes where it has more bytes than that. */
export async function readWhole(input: AsyncIterable<Uint8Array>, most: number, tooLong: () => Error): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    length += chunk.length;
    if (length > most) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
