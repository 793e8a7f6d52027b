/**
 * Numbers of documents that JavaScript cannot represent. Readers of a document see the nearest number; the original
 * text is kept beside the object or list that has the number, for code that needs it.
 */
import { rawNumber, type WrittenNumber } from './exact-json.ts';
import { isHeld } from './stand-ins.ts';

/** Texts of such numbers in objects and lists, by name or index. */
const written = new WeakMap<object, Map<string, string>>();

/** Replaces a written number by a plain one, and remembers its text if that is another number. */
export function settleNumber(holder: object, name: string, { rawJSON: text }: WrittenNumber): number {
  const plain = Number(text);
  Object.defineProperty(holder, name, { value: plain, enumerable: true, writable: true, configurable: true });
  if (isHeld(text)) return plain;
  const texts = written.get(holder) ?? new Map<string, string>();
  texts.set(name, text);
  written.set(holder, texts);
  return plain;
}

/** JSON of a member with all the digits of its numbers; undefined if JavaScript holds them all. */
export function writtenJson(holder: object, name: string): string | undefined {
  const { value, isWritten } = withTexts(holder, name);
  return isWritten ? JSON.stringify(value) : undefined;
}

interface WithTexts {
  readonly value: unknown;
  readonly isWritten: boolean;
}

function withTexts(holder: object, name: string): WithTexts {
  const value: unknown = Reflect.get(holder, name);
  const text = written.get(holder)?.get(name);
  if (text !== undefined) return { value: rawNumber(text), isWritten: true };
  if (typeof value !== 'object' || value === null) return { value, isWritten: false };
  const members = Object.keys(value).map((key) => [key, withTexts(value, key)] as const);
  if (!members.some(([, { isWritten }]) => isWritten)) return { value, isWritten: false };
  const inner = members.map(([key, each]) => [key, each.value] as const);
  return { value: Array.isArray(value) ? inner.map(([, each]) => each) : Object.fromEntries(inner), isWritten: true };
}
