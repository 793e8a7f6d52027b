/** The signature base (RFC 9421, section 2.5): what of the request a signature is made of. */
import { lowerByte, Request, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";
import { SignatureInput } from "./structured-fields";

const METHOD = text("@method");
export const PATH = text("@path");
export const QUERY = text("@query");
export const TARGET_URI = text("@target-uri");
export const REQUEST_TARGET = text("@request-target");
const AUTHORITY = text("@authority");
const SCHEME = text("@scheme");
const PARAMS = text('"@signature-params": ');
const HOST = text("host");
const HTTPS = text("https");
const SEPARATOR = text('": ');
const HTTP_PORT = text(":80");
const HTTPS_PORT = text(":443");

/** Null where the request lacks something that the signature covers, or it covers what is not known. */
export function signatureBase(input: SignatureInput): Text | null {
  const base = new TextBuilder(1024);
  for (let i = 0; i < input.count; i++) {
    const name = input.components[i];
    const value = componentOf(name);
    if (!value) return null;
    base.byte(0x22).add(name).add(SEPARATOR).add(value).byte(0x0a);
  }
  return base.add(PARAMS).add(input.text).take();
}

function componentOf(name: Text): Text | null {
  if (name.isEmpty || name.byteAt(0) != 0x40) return isLower(name) ? Request.header(name) : null;
  if (name.equals(METHOD)) return Request.method();
  if (name.equals(AUTHORITY)) return authority();
  if (name.equals(SCHEME)) return Request.scheme();
  if (name.equals(REQUEST_TARGET)) return Request.target();
  if (name.equals(TARGET_URI)) {
    return new TextBuilder(512).add(Request.scheme()).add(text("://")).add(authority()).add(Request.target()).take();
  }
  const target = Request.target();
  const mark = target.indexOf(0x3f);
  if (name.equals(PATH)) return mark < 0 ? target : target.slice(0, mark);
  if (name.equals(QUERY)) return mark < 0 ? text("?") : target.slice(mark);
  return null;
}

/** Names of fields are in lower case here (section 2.1). */
function isLower(name: Text): bool {
  for (let i = 0; i < name.length; i++) if (lowerByte(name.byteAt(i)) != name.byteAt(i)) return false;
  return !name.isEmpty;
}

/** In lower case, without the port that its scheme has anyway (section 2.2.3). */
function authority(): Text {
  const sent = Request.header(HOST);
  const host = sent ? sent.lower() : text("");
  const port = Request.scheme().equals(HTTPS) ? HTTPS_PORT : HTTP_PORT;
  return host.endsWith(port) ? host.slice(0, host.length - port.length) : host;
}
