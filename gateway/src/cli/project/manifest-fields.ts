/** Checks of the parts of a manifest. */
import { isObject, kindOf, type Obj } from '../../spec/json.ts';
import { child } from '../../spec/pointer.ts';
import { didYouMean } from '../../text/nearest-name.ts';

/** Refuses the manifest. `hint`: the text to write instead. */
export type Fail = (message: string, pointer: string, hint: string) => never;

/** A part of the manifest. */
export interface Part {
  readonly what: string;
  readonly pointer: string;
}

/** `such`: a member, as an example. */
export function objectOf(value: unknown, { what, pointer, such }: Part & { readonly such: string }, fail: Fail): Obj {
  if (isObject(value)) return value;
  return fail(
    `${what} is ${kindOf(value)}: it must be an object`,
    pointer,
    `Write its members by name, such as ${such}.`,
  );
}

export function onlyFields(object: Obj, known: readonly string[], { what, pointer }: Part, fail: Fail): void {
  const other = Object.keys(object).find((key) => !known.includes(key));
  if (other === undefined) return;
  const hint = didYouMean(other, known) ?? `Remove "${other}", or use one of ${known.join(', ')}.`;
  fail(`${what} has an unknown field "${other}": known are ${known.join(', ')}`, child(pointer, other), hint);
}
