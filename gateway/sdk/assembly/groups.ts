/** Lists of groups as `x-auth-consumer-groups` has them: joined with commas (docs/decisions.md#identity-headers). */
import { Config } from "./config";
import { Text, TextBuilder } from "./text";

const COMMA: u8 = 0x2c;
const PERCENT: u8 = 0x25;

/**
 * Returns one name as `x-auth-*` headers have it: percent signs are encoded, so that no name looks like another one
 * encoded, and a blank at either end, which readers of headers remove; the host encodes other characters than ASCII
 * (docs/decisions.md#identity-headers).
 *
 * @example
 * const name = encodedName(text("50% off ")); // 50%25 off%20
 */
export function encodedName(name: Text): Text {
  if (name.indexOf(PERCENT) < 0 && !isBlankAt(name, 0) && !isBlankAt(name, name.length - 1)) return name;
  const out = new TextBuilder(name.length + 16);
  addEncoded(out, name, PERCENT);
  return out.take();
}

/**
 * Adds one more; commas within it are encoded, too, so that one name stays one.
 *
 * @example
 * const groups = new TextBuilder();
 * addGroup(groups, text("staff"));
 * addGroup(groups, text("a,b")); // staff,a%2Cb
 */
export function addGroup(out: TextBuilder, name: Text): void {
  if (out.length > 0) out.byte(COMMA);
  addEncoded(out, name, COMMA);
}

function addEncoded(out: TextBuilder, name: Text, other: u8): void {
  for (let i = 0; i < name.length; i++) {
    const byte = name.byteAt(i);
    const outermost = i == 0 || i == name.length - 1;
    if (byte == PERCENT || byte == other || (outermost && isBlankAt(name, i))) out.percent(byte);
    else out.byte(byte);
  }
}

function isBlankAt(name: Text, index: i32): bool {
  if (index < 0 || index >= name.length) return false;
  const byte = name.byteAt(index);
  return byte == 0x20 || byte == 0x09;
}

/**
 * The list of the config at a JSON pointer, joined; empty if the config has no such list.
 *
 * @example
 * Identity.groups(groupsAt(text("/keys/0/groups")));
 */
export function groupsAt(pointer: Text): Text {
  const count = Config.countAt(pointer);
  const out = new TextBuilder(128);
  for (let i = 0; i < count; i++) {
    const name = Config.at(new TextBuilder(64).add(pointer).byte(0x2f).integer(i).take());
    if (name && !name.isEmpty) addGroup(out, name);
  }
  return out.take();
}
