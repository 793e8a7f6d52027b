/** Memory that JSON takes once it is parsed: up to 25 times its length. */

/** Bytes of a character in a string, and of a value besides: an object without members costs most. */
const [CHARACTER, VALUE] = [2, 48];
const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];

/** Returns the bytes that the value will take at most: a value begins behind one of three characters, or is a member's. */
export function parsedSize(json: Uint8Array): number {
  let values = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === COMMA || byte === BRACKET || byte === BRACE) values++;
  }
  return CHARACTER * json.length + VALUE * values;
}
