import { ANSWERED, Config, CONTINUE, EMPTY, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const ORIGIN = text("origin");
const REQUEST_METHOD = text("access-control-request-method");
const REQUEST_HEADERS = text("access-control-request-headers");
const ALLOW_ORIGIN = text("access-control-allow-origin");
const ALLOW_METHODS = text("access-control-allow-methods");
const ALLOW_HEADERS = text("access-control-allow-headers");
const ALLOW_CREDENTIALS = text("access-control-allow-credentials");
const EXPOSE_HEADERS = text("access-control-expose-headers");
const MAX_AGE = text("access-control-max-age");
const VARY = text("vary");
const VARY_ORIGIN = text("Origin");
const VARY_PREFLIGHT = text("Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
const OPTIONS = text("OPTIONS");
const STAR = text("*");
const TRUE = text("true");
const FORBIDDEN = text("forbidden");
const TITLE = text("Forbidden");
const ORIGIN_REFUSED = text("the origin is not allowed");
const METHOD_REFUSED = text("the method is not allowed for this origin");
const HEADERS_REFUSED = text("a request header is not allowed for this origin");
const SCHEME_END = text("://");

const GET = text("GET");
const HEAD = text("HEAD");
const AUTHORIZATION = text("authorization");

/** Of the Fetch standard, section 2.2.2: allowed whatever the config says. */
const SAFE_HEADERS: StaticArray<Text> = [text("accept"), text("accept-language"), text("content-language"), text("content-type"), text("range")];

let origins: StaticArray<Text> = new StaticArray<Text>(0);
let methods: StaticArray<Text> = new StaticArray<Text>(0);
let headers: StaticArray<Text> = new StaticArray<Text>(0);
let anyOrigin = false;
let anyMethod = false;
let anyHeader = false;
let credentials = false;
let methodsText: Text = EMPTY;
let headersText: Text = EMPTY;
let exposed: Text = EMPTY;
let maxAge: Text = EMPTY;

export function init(): i32 {
  origins = Config.list("/allowed_origins");
  for (let i = 0; i < origins.length; i++) origins[i] = withoutDefaultPort(origins[i]);
  methods = Config.has("/allowed_methods") ? Config.list("/allowed_methods") : [text("GET"), text("POST")];
  headers = Config.list("/allowed_headers");
  credentials = Config.flag("/allow_credentials");
  anyOrigin = contains(origins, STAR);
  anyMethod = contains(methods, STAR);
  anyHeader = contains(headers, STAR);
  if (credentials && (anyOrigin || anyMethod || anyHeader)) {
    return Config.refuse("with allow_credentials, browsers treat * as a name: list what is allowed");
  }
  methodsText = join(methods);
  headersText = join(headers);
  exposed = join(Config.list("/expose_headers"));
  maxAge = new TextBuilder(16).integer(<i64>Config.number("/max_age")).take();
  return READY;
}

export function on_request(): i32 {
  const origin = Request.header(ORIGIN);
  if (!origin) {
    // Caches must know that another origin's answer may differ.
    if (!anyOrigin) Response.addHeader(VARY, VARY_ORIGIN);
    return CONTINUE;
  }
  const wanted = Request.method().equals(OPTIONS) ? Request.header(REQUEST_METHOD) : null;
  return wanted ? preflight(origin, wanted) : actual(origin);
}

function preflight(origin: Text, method: Text): i32 {
  Response.setHeader(VARY, VARY_PREFLIGHT);
  if (!allowsOrigin(origin)) return refuse(ORIGIN_REFUSED);
  allowOrigin(origin);
  if (!allowsMethod(method)) return refuse(METHOD_REFUSED);
  const asked = Request.header(REQUEST_HEADERS);
  const allowed = asked ? allowedHeaders(asked) : headersText;
  if (!allowed) return refuse(HEADERS_REFUSED);
  Response.setHeader(ALLOW_METHODS, methodsText);
  Response.setHeader(ALLOW_HEADERS, allowed);
  Response.setHeader(MAX_AGE, maxAge);
  Response.send(204);
  return ANSWERED;
}

function actual(origin: Text): i32 {
  if (!anyOrigin) Response.addHeader(VARY, VARY_ORIGIN);
  if (!allowsOrigin(origin)) return refuse(ORIGIN_REFUSED);
  allowOrigin(origin);
  // An upstream's CORS headers follow its own CORS config, not this one.
  if (!credentials) Response.removeHeader(ALLOW_CREDENTIALS);
  if (exposed.isEmpty) Response.removeHeader(EXPOSE_HEADERS);
  else Response.setHeader(EXPOSE_HEADERS, exposed);
  return CONTINUE;
}

function allowOrigin(origin: Text): void {
  Response.setHeader(ALLOW_ORIGIN, anyOrigin ? STAR : origin);
  if (credentials) Response.setHeader(ALLOW_CREDENTIALS, TRUE);
}

function refuse(detail: Text): i32 {
  Response.problem(403, FORBIDDEN, TITLE, detail);
  return ANSWERED;
}

/** `HEAD` goes with `GET`, which serves it. */
function allowsMethod(method: Text): bool {
  return anyMethod || contains(methods, method) || (method.equals(HEAD) && contains(methods, GET));
}

/** As browsers write it: without the port that its scheme has anyway. */
function withoutDefaultPort(origin: Text): Text {
  const lower = origin.lower();
  if (lower.startsWith(text("https://")) && lower.endsWith(text(":443"))) return origin.slice(0, origin.length - 4);
  if (lower.startsWith(text("http://")) && lower.endsWith(text(":80"))) return origin.slice(0, origin.length - 3);
  return origin;
}

/** In any case, though browsers send them in lower case. */
function allowsOrigin(origin: Text): bool {
  if (anyOrigin) return true;
  for (let i = 0; i < origins.length; i++) {
    const allowed = origins[i];
    const star = allowed.indexOf(0x2a);
    if (star < 0 ? origin.equalsIgnoreCase(allowed) : isSubdomain(origin, allowed, star)) return true;
  }
  return false;
}

/** `*.<domain>` or `<scheme>://*.<domain>`, with the port if the config gives one. */
function isSubdomain(origin: Text, allowed: Text, star: i32): bool {
  const suffix = allowed.slice(star + 1);
  let host = afterScheme(origin);
  if (host < 0) return false;
  if (star > 0 && !origin.slice(0, host).equalsIgnoreCase(allowed.slice(0, star))) return false;
  let end = origin.length;
  // Without a port in the pattern, any port will do: the domain is what is trusted.
  if (suffix.indexOf(0x3a) < 0) {
    const colon = origin.indexOf(0x3a, host);
    if (colon >= 0) end = colon;
  }
  const name = origin.slice(host, end);
  // No browser sends a path, but who else does would choose what stands before the domain.
  if (name.indexOf(0x2f) >= 0 || name.indexOf(0x40) >= 0) return false;
  if (name.length <= suffix.length) return false;
  return name.slice(name.length - suffix.length).equalsIgnoreCase(suffix);
}

/** Where the host of an origin begins; -1 for `null` and anything else that is not an origin. */
function afterScheme(origin: Text): i32 {
  const colon = origin.indexOf(0x3a);
  if (colon < 1 || !origin.slice(colon).startsWith(SCHEME_END)) return -1;
  return colon + 3;
}

/**
 * The value of Access-Control-Allow-Headers for the requested names, a list separated by commas; null if one of them is
 * not allowed. Browsers ask for a safelisted header whose value is not (a Content-Type of JSON), and want it named.
 */
function allowedHeaders(asked: Text): Text | null {
  let out: TextBuilder | null = null;
  let start = 0;
  for (let i = 0; i <= asked.length; i++) {
    if (i < asked.length && asked.byteAt(i) != 0x2c) continue;
    const name = asked.slice(start, i).trim();
    start = i + 1;
    if (name.isEmpty || isListed(name)) continue;
    if (!containsIgnoreCase(SAFE_HEADERS, name)) return null;
    if (!out) out = new TextBuilder(256).add(headersText);
    if (out.length > 0) out.byte(0x2c).byte(0x20);
    out.add(name);
  }
  return out ? out.take() : headersText;
}

/** `*` stands for all but `Authorization`, to browsers too: that must be named. */
function isListed(name: Text): bool {
  return (anyHeader && !name.equalsIgnoreCase(AUTHORIZATION)) || containsIgnoreCase(headers, name);
}

/** Methods are compared exactly, as the Fetch standard does. */
function contains(list: StaticArray<Text>, value: Text): bool {
  for (let i = 0; i < list.length; i++) if (list[i].equals(value)) return true;
  return false;
}

function containsIgnoreCase(list: StaticArray<Text>, value: Text): bool {
  for (let i = 0; i < list.length; i++) if (list[i].equalsIgnoreCase(value)) return true;
  return false;
}

function join(list: StaticArray<Text>): Text {
  const out = new TextBuilder();
  for (let i = 0; i < list.length; i++) {
    if (i > 0) out.byte(0x2c).byte(0x20);
    out.add(list[i]);
  }
  return out.take();
}
