/** Bytes that are nearly right: valid ones with a few changes, for tests that no input may harm. */
import fc from 'fast-check';

type Mutation = (bytes: Buffer) => Buffer;

/** Where in a text of any length, as a part of it. */
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

function at(bytes: Buffer, part: number): number {
  return Math.floor(bytes.length * part);
}

function mutation(tokens: readonly string[]): fc.Arbitrary<Mutation> {
  const insertion = fc.oneof(
    fc.uint8Array({ maxLength: 8 }).map((each) => Buffer.from(each)),
    fc.constantFrom(...tokens).map((each) => Buffer.from(each, 'latin1')),
  );
  return fc.oneof(
    fc.tuple(place, fc.nat(255)).map(([part, byte]): Mutation => {
      return (bytes) => {
        const copy = Buffer.from(bytes);
        if (copy.length > 0) copy[at(copy, part)] = byte;
        return copy;
      };
    }),
    fc.tuple(place, insertion).map(([part, more]): Mutation => {
      return (bytes) => Buffer.concat([bytes.subarray(0, at(bytes, part)), more, bytes.subarray(at(bytes, part))]);
    }),
    fc.tuple(place, fc.nat(64)).map(([part, count]): Mutation => {
      return (bytes) => Buffer.concat([bytes.subarray(0, at(bytes, part)), bytes.subarray(at(bytes, part) + count)]);
    }),
    fc.tuple(place, place, fc.nat(64)).map(([part, from, count]): Mutation => {
      return (bytes) => {
        const copied = bytes.subarray(at(bytes, from), at(bytes, from) + count);
        return Buffer.concat([bytes.subarray(0, at(bytes, part)), copied, bytes.subarray(at(bytes, part))]);
      };
    }),
    place.map(
      (part): Mutation =>
        (bytes) =>
          bytes.subarray(0, at(bytes, part)),
    ),
  );
}

/** One of `originals` with up to six changes. `tokens`: what has a meaning there, in latin1. */
export function mutated(originals: readonly Uint8Array[], tokens: readonly string[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...originals), fc.array(mutation(tokens), { maxLength: 6 }))
    .map(([original, changes]) => changes.reduce<Buffer>((bytes, change) => change(bytes), Buffer.from(original)));
}
