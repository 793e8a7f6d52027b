import { ByteCollector } from './byte-collector.ts';

/** Returns all bytes of a stream. Throws the error of `tooLong` if there are more than `most`. */
export async function readWhole(input: AsyncIterable<Uint8Array>, most: number, tooLong: () => Error): Promise<Buffer> {
  const collected = new ByteCollector();
  for await (const chunk of input) {
    if (collected.length + chunk.length > most) throw tooLong();
    collected.add(chunk);
  }
  return collected.takeWhole();
}
