/** The Basic authentication scheme (RFC 7617). */
import { decodeBase64, isUtf8 } from "./base64";
import { Request } from "./request";
import { Text, text } from "./text";

const AUTHORIZATION = text("authorization");
const SCHEME = text("basic");

export class BasicCredentials {
  constructor(
    /** Without a colon, which would end it. */
    public username: Text,
    /** May hold colons, and may be empty. */
    public password: Text,
  ) {}

  /** What the request sends; null where it sends none, or what is malformed, not UTF-8, or holds control characters. */
  static ofRequest(): BasicCredentials | null {
    const header = Request.header(AUTHORIZATION);
    if (!header) return null;
    const space = header.indexOf(0x20);
    if (space < 0 || !header.slice(0, space).equalsIgnoreCase(SCHEME)) return null;
    const decoded = decodeBase64(header.slice(space).trim());
    if (!decoded || hasControls(decoded) || !isUtf8(decoded)) return null;
    const colon = decoded.indexOf(0x3a);
    if (colon < 0) return null;
    return new BasicCredentials(decoded.slice(0, colon), decoded.slice(colon + 1));
  }
}

function hasControls(value: Text): bool {
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (byte < 0x20 || byte == 0x7f) return true;
  }
  return false;
}
