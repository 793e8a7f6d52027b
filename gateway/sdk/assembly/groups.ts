/** Lists of groups as `x-auth-consumer-groups` has them: joined with commas (D20). */
import { Config } from "./config";
import { Text, TextBuilder } from "./text";

/** Adds one more; commas within it are percent-encoded, so that one name stays one. */
export function addGroup(out: TextBuilder, name: Text): void {
  if (out.length > 0) out.byte(0x2c);
  for (let i = 0; i < name.length; i++) {
    const byte = name.byteAt(i);
    if (byte == 0x2c) out.percent(byte);
    else out.byte(byte);
  }
}

/** The list of the config at a JSON pointer, joined; empty where there is none. */
export function groupsAt(pointer: Text): Text {
  const count = Config.countAt(pointer);
  const out = new TextBuilder(128);
  for (let i = 0; i < count; i++) {
    const name = Config.at(new TextBuilder(64).add(pointer).byte(0x2f).integer(i).take());
    if (name && !name.isEmpty) addGroup(out, name);
  }
  return out.take();
}
