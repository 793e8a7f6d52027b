/** JSON whose numbers keep all of their digits, for values that go on to clients and providers. */
import { someBetweenStrings } from './between-strings.ts';
import { asWritten } from './exact-json.ts';
import { isQuickJson } from './json-scan.ts';

/** A number that JavaScript may write with other digits: also one with zeros at its end, a very small one, and -0. */
const WRITTEN_ANEW = /\d{16}|\d[.\d]{16}|\d[eE]|\.\d*0(?!\d)|0\.000000|-0(?![.\d])/;

/**
 * Like `parseExactly`, but every number keeps its digits, also redundant ones; unless the values are so many that
 * looking at each would delay other requests.
 */
export function parseAsWritten(text: string): unknown {
  const keepsDigits =
    someBetweenStrings(text, (part) => WRITTEN_ANEW.test(part)) && isQuickJson(Buffer.from(text), { exactly: true });
  return keepsDigits ? JSON.parse(text, asWritten as never) : JSON.parse(text);
}
