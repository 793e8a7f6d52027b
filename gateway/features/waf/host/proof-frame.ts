/** Proofs in the engine's form, in the order in which it finds them: by variable and name. */
import { VARIABLES } from '../seclang/vocabulary.ts';
import { bytesOf } from './exclusions.ts';
import { FrameWriter } from './frame-writer.ts';
import type { Proof, Proofs } from './proofs.ts';

const VARIABLE_NAMES = Object.keys(VARIABLES);
/** Longest numbers that are proved: rule 942220 looks for those at the ends of 32 bits. */
const MOST_DIGITS = 9;

/** Writes names (of each variable, name, kind of form, and form: 0 bytes, 1 texts, 2 numbers, 3 any), and segments. */
export function writeProofs(frame: FrameWriter, { names, segments }: Proofs): void {
  const placed = names.map(({ variable, name, form }) => ({ place: VARIABLE_NAMES.indexOf(variable), name, form }));
  placed.sort((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1));
  frame.list(placed, ({ place, name, form }) => {
    const { kind, data } = encoded(form);
    frame.number(place).text(name).number(kind).bytes(data);
  });
  frame.list(segments, (segment) => frame.text(bytesOf(segment)));
}

function encoded(form: Proof['form']): { readonly kind: number; readonly data: Uint8Array } {
  const frame = new FrameWriter(64);
  switch (form.kind) {
    case 'bytes':
      frame.raw(bitsOf(form.allowed)).number(form.longest).raw(Buffer.from(form.template));
      return { kind: 0, data: frame.taken() };
    case 'texts':
      for (const text of form.texts) frame.text(bytesOf(text));
      return { kind: 1, data: frame.taken() };
    case 'number':
      return { kind: 2, data: frame.number(MOST_DIGITS).taken() };
    case 'any':
      return { kind: 3, data: frame.taken() };
  }
}

/** A bit for each of 256 bytes. */
function bitsOf(ranges: readonly (readonly [from: number, to: number])[]): Uint8Array {
  const bits = new Uint8Array(32);
  for (const [from, to] of ranges) for (let byte = from; byte <= to; byte++) bits[byte >> 3]! |= 1 << (byte & 7);
  return bits;
}
