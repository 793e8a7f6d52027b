/** Saying who the caller is: headers `x-auth-*` for later plugins and the upstream. Declare `authenticates`. */
import { Context } from "./context";
import { Request } from "./request";
import { EMPTY, Text, text, TextBuilder } from "./text";
import { Token } from "./token";

const CONSUMER = text("x-auth-consumer");
const GROUPS = text("x-auth-consumer-groups");
const CLAIMS = text("x-auth-claims");
const CONTEXT_CONSUMER = text("auth.consumer");
const SCOPE = text("/scope");
const SCP = text("/scp");

export namespace Identity {
  /** Sets a header; null takes out what an earlier plugin may have set. */
  export function set(header: Text, value: Text | null): void {
    if (value) Request.setHeader(header, value);
    else Request.removeHeader(header);
  }

  /** Who it is, as header and as context value `auth.consumer`; null or empty: nobody can be named. */
  export function consumer(name: Text | null): void {
    const known = name && !name.isEmpty ? name : null;
    set(CONSUMER, known);
    Context.set(CONTEXT_CONSUMER, known ? known : EMPTY);
  }

  /** The groups, joined already. */
  export function groups(names: Text): void {
    Request.setHeader(GROUPS, names);
  }

  /** All claims of the token as JSON; the host leaves out what is too long. */
  export function claims(): void {
    set(CLAIMS, Token.claim(EMPTY));
  }
}

/** Scopes of the token that was verified, separated by spaces: `scope`, or else `scp`, text or list. */
export function scopesOfToken(): Text {
  const scope = namesAt(SCOPE, 0x20);
  return scope.isEmpty ? namesAt(SCP, 0x20) : scope;
}

/** The names in a claim, text or list, with `separator` between them; empty where there are none. */
export function namesAt(pointer: Text, separator: u8): Text {
  const count = Token.count(pointer);
  const whole = Token.claim(pointer);
  if (!whole) return EMPTY;
  if (count < 0) return separator == 0x20 ? whole : commasEncoded(new TextBuilder(whole.length + 16), whole).take();
  const out = new TextBuilder(whole.length + 16);
  for (let i = 0; i < count; i++) {
    const item = Token.claim(new TextBuilder(64).add(pointer).byte(0x2f).integer(i).take());
    if (!item || item.isEmpty) continue;
    if (out.length > 0) out.byte(separator);
    if (separator == 0x20) out.add(item);
    else commasEncoded(out, item);
  }
  return out.take();
}

/** Names separated by spaces, with commas between them. */
export function commaSeparated(names: Text): Text {
  const out = new TextBuilder(names.length + 16);
  let start = 0;
  for (let i = 0; i <= names.length; i++) {
    if (i < names.length && names.byteAt(i) != 0x20) continue;
    if (i > start) {
      if (out.length > 0) out.byte(0x2c);
      commasEncoded(out, names.slice(start, i));
    }
    start = i + 1;
  }
  return out.take();
}

/** Commas within a name are percent-encoded, so that one name stays one (D20). */
function commasEncoded(out: TextBuilder, name: Text): TextBuilder {
  for (let i = 0; i < name.length; i++) {
    const byte = name.byteAt(i);
    if (byte == 0x2c) out.percent(byte);
    else out.byte(byte);
  }
  return out;
}
