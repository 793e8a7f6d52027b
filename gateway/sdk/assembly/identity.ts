/** Identifies the caller: headers `x-auth-*` for later plugins and the upstream. Declare `authenticates`. */
import { Context } from "./context";
import { addGroup, encodedName } from "./groups";
import { Request } from "./request";
import { EMPTY, Text, text, TextBuilder } from "./text";
import { Token } from "./token";

const CONSUMER = text("x-auth-consumer");
const GROUPS = text("x-auth-consumer-groups");
const CLAIMS = text("x-auth-claims");
const CONTEXT_CONSUMER = text("auth.consumer");
const SCOPE = text("/scope");
const SCP = text("/scp");

/**
 * @example
 * Identity.consumer(text("ann"));
 * Identity.groups(text("staff,admins"));
 */
export namespace Identity {
  /** Sets a header to a name; null removes one that an earlier plugin may have set. */
  export function set(header: Text, name: Text | null): void {
    if (name) Request.setHeader(header, encodedName(name));
    else Request.removeHeader(header);
  }

  /** Sets a header to names that are joined and encoded already; removes it if there are no names. */
  export function list(header: Text, names: Text): void {
    if (names.isEmpty) Request.removeHeader(header);
    else Request.setHeader(header, names);
  }

  /** Sets the name of the caller, as header and as context value `auth.consumer`; null or empty if the caller has no name. */
  export function consumer(name: Text | null): void {
    const known = name && !name.isEmpty ? name : null;
    set(CONSUMER, known);
    Context.set(CONTEXT_CONSUMER, known ? known : EMPTY);
  }

  /** The groups, joined already. */
  export function groups(names: Text): void {
    Request.setHeader(GROUPS, names);
  }

  /** Sets the header to all claims of the token as JSON; the host leaves an overlong value out. */
  export function claims(): void {
    const claims = Token.claim(EMPTY);
    if (claims) Request.setHeader(CLAIMS, claims);
    else Request.removeHeader(CLAIMS);
  }
}

/**
 * Scopes of the token that was verified, separated by spaces: `scope`, or else `scp`, text or list.
 *
 * @example
 * const scopes = scopesOfToken(); // orders:read orders:write
 */
export function scopesOfToken(): Text {
  const scope = namesAt(SCOPE, 0x20);
  return scope.isEmpty ? namesAt(SCP, 0x20) : scope;
}

/**
 * The names in a claim, text or list, with `separator` between them; empty if the claim is absent or has no names.
 *
 * @example
 * const roles = namesAt(text("/roles"), 0x2c); // staff,admins
 */
export function namesAt(pointer: Text, separator: u8): Text {
  const count = Token.count(pointer);
  const whole = Token.claim(pointer);
  if (!whole) return EMPTY;
  const out = new TextBuilder(whole.length + 16);
  if (count < 0) {
    // Blanks at the ends of a list belong to no name.
    if (separator == 0x20) return whole.trim();
    addGroup(out, whole);
    return out.take();
  }
  for (let i = 0; i < count; i++) {
    const item = Token.claim(new TextBuilder(64).add(pointer).byte(0x2f).integer(i).take());
    if (!item || item.isEmpty) continue;
    if (separator != 0x20) {
      addGroup(out, item);
      continue;
    }
    if (out.length > 0) out.byte(separator);
    out.add(item);
  }
  return out.take();
}

/**
 * Names separated by spaces, with commas between them.
 *
 * @example
 * const names = commaSeparated(text("staff admins")); // staff,admins
 */
export function commaSeparated(names: Text): Text {
  const out = new TextBuilder(names.length + 16);
  let start = 0;
  for (let i = 0; i <= names.length; i++) {
    if (i < names.length && names.byteAt(i) != 0x20) continue;
    if (i > start) addGroup(out, names.slice(start, i));
    start = i + 1;
  }
  return out.take();
}
