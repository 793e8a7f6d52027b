import { ANSWERED, Config, EMPTY, encoded, PathTemplate, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const LOCATION = text("location");
const HASH: u8 = 0x23;
const MARK: u8 = 0x3f;
const SLASH: u8 = 0x2f;

let status: i32 = 302;
let keepsQuery = true;
/** Scheme and host, which no request has a part in; empty for this host. */
let origin: Text = EMPTY;
let template: PathTemplate = new PathTemplate();
let hasQuery = false;
/** With its `#`; empty if the target has no fragment. */
let fragment: Text = EMPTY;

export function init(): i32 {
  status = <i32>Config.number("/status");
  keepsQuery = !Config.has("/preserve_query") || Config.flag("/preserve_query");
  const target = Config.get("/target");
  const hash = target.indexOf(HASH);
  if (hash >= 0) fragment = encoded(target.slice(hash));
  const whole = hash < 0 ? target : target.slice(0, hash);
  const path = pathStart(whole);
  origin = whole.slice(0, path);
  if (origin.indexOf(0x7b) >= 0) return Config.refuse("target: a parameter cannot be part of the host");
  const parsed = PathTemplate.parse(whole.slice(path));
  if (!parsed) return Config.refuse("target: a parameter is written {name}, with both braces");
  template = parsed;
  hasQuery = whole.indexOf(MARK) >= 0;
  return READY;
}

export function dispatch(): i32 {
  const path = template.fill();
  const query = keepsQuery ? Request.query() : null;
  const out = new TextBuilder(512).add(origin);
  // Two slashes at the beginning would make what a client sent into the name of a host.
  if (origin.isEmpty && path.length > 1 && path.byteAt(1) == SLASH) out.byte(SLASH).percent(SLASH).add(path.slice(2));
  else out.add(path);
  if (query && !query.isEmpty) out.byte(hasQuery ? 0x26 : MARK).add(encoded(query));
  Response.setHeader(LOCATION, out.add(fragment).take());
  Response.send(status);
  return ANSWERED;
}

/** Where path or query of a target begin, behind scheme and host. */
function pathStart(target: Text): i32 {
  if (target.isEmpty || target.byteAt(0) == SLASH) return 0;
  let at = target.indexOf(SLASH) + 2;
  while (at < target.length && target.byteAt(at) != SLASH && target.byteAt(at) != MARK) at++;
  return at;
}
