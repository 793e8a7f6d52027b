/** The Basic authentication scheme (RFC 7617). */
import { decodeBase64, isUtf8 } from "./base64";
import { Config } from "./config";
import { Request } from "./request";
import { Response } from "./response";
import { Text, text, TextBuilder } from "./text";

const AUTHORIZATION = text("authorization");
const SCHEME = text("basic");
const WWW_AUTHENTICATE = text("www-authenticate");
const FAILED = text("authentication-failed");
const FAILED_TITLE = text("Authentication failed");
const FAILED_DETAIL = text("Invalid username or password");

/**
 * User name and password of a request.
 *
 * @example
 * const credentials = BasicCredentials.ofRequest();
 * if (credentials) Log.debug(credentials.username);
 */
export class BasicCredentials {
  /** Both parts, of the request or of one's own. */
  constructor(
    /** Without a colon, which would end it. */
    public username: Text,
    /** May hold colons, and may be empty. */
    public password: Text,
  ) {}

  /** Removes them from the request for the upstream. */
  static strip(): void {
    Request.removeHeader(AUTHORIZATION);
  }

  /** Returns the request's credentials; null if they are absent, malformed, not UTF-8, or hold control characters. */
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

/**
 * The challenge that asks for Basic credentials; make it in `init`.
 *
 * @example
 * const challenge = new BasicChallenge(); // in init
 * if (!BasicCredentials.ofRequest()) {
 *   challenge.refuse();
 *   return ANSWERED;
 * }
 */
export class BasicChallenge {
  private value: Text;

  /** Makes the challenge for the realm that the config names. */
  constructor() {
    const realm = Config.get("/realm", "api");
    const out = new TextBuilder().add(text('Basic realm="'));
    for (let i = 0; i < realm.length; i++) {
      const byte = realm.byteAt(i);
      if (byte == 0x22 || byte == 0x5c) out.byte(0x5c);
      out.byte(byte);
    }
    this.value = out.byte(0x22).take();
  }

  /** Answers 401, the same for every fault: an unknown name, a wrong password, credentials missing or malformed. */
  refuse(): void {
    Response.setHeader(WWW_AUTHENTICATE, this.value);
    Response.problem(401, FAILED, FAILED_TITLE, FAILED_DETAIL);
  }
}

function hasControls(value: Text): bool {
  for (let i = 0; i < value.length; i++) {
    const byte = value.byteAt(i);
    if (byte < 0x20 || byte == 0x7f) return true;
  }
  return false;
}
