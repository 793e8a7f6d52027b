import {
  ANSWERED, CALL_CIRCUIT_OPEN, CALL_NO_ROOM, CALL_TIMEOUT, climbs, Config, EMPTY, encoded, HttpCall, JSON_NO_ROOM, JSON_TOO_COSTLY, PathTemplate, READY, Request, Response, Text, text, TextBuilder,
} from "@gw/plugin-sdk/assembly";
import { respond } from "./answer";

const UPSTREAM_FAILED = text("upstream-failed");
const BAD_GATEWAY = text("Bad gateway");
const UPSTREAM_TIMEOUT = text("upstream-timeout");
const GATEWAY_TIMEOUT = text("Gateway timeout");
const VALIDATION_FAILED = text("validation-failed");
const VALIDATION_TITLE = text("Request validation failed");
const NOT_A_SEGMENT = text("a path parameter would change the structure of the function's path");
const UPSTREAM_UNAVAILABLE = text("upstream-unavailable");
const OVERLOADED = text("overloaded");
const SERVICE_UNAVAILABLE = text("Service unavailable");
const ILL = text("The function has not answered several times in a row.");
const NO_ROOM = text("The gateway has no room for the function's answer.");
const LATE = text("The function did not answer in time.");
const UNREACHABLE = text("The function could not be invoked.");
const TOO_COSTLY = text("The function's answer takes too long to read: it is too large, or has too many values.");
const INVALID = text("The function's answer was not valid.");

const HEAD = text("HEAD");
const GET = text("GET");
const ACCEPT_ENCODING = text("accept-encoding");
const IDENTITY = text("identity");
const CONTENT_TYPE = text("content-type");
const CONTENT_ENCODING = text("content-encoding");
const SLASH: u8 = 0x2f;
const MARK: u8 = 0x3f;
const AMPERSAND: u8 = 0x26;

let timeoutMs: i32 = 30_000;
let passesHeaders = true;
/** Scheme and host of the function, which no request has a part in. */
let origin: Text = text("");
let template: PathTemplate = new PathTemplate();
let hasQuery = false;

export function init(): i32 {
  timeoutMs = <i32>max(1.0, Config.number("/timeout") * 1000);
  passesHeaders = Config.flag("/pass_through_headers");
  const url = Config.get("/url");
  const path = pathStart(url);
  origin = url.slice(0, path);
  hasQuery = url.indexOf(MARK) >= 0;
  const parsed = PathTemplate.parse(url.slice(path));
  if (!parsed || origin.indexOf(0x7b) >= 0) return Config.refuse("url: a parameter is written {name}, in path or query");
  template = parsed;
  return READY;
}

export function dispatch(): i32 {
  const path = template.fill();
  if (climbs(path)) {
    Response.problem(400, VALIDATION_FAILED, VALIDATION_TITLE, NOT_A_SEGMENT);
    return ANSWERED;
  }
  const status = invoke(urlOf(path));
  if (status == CALL_CIRCUIT_OPEN) retryLater(UPSTREAM_UNAVAILABLE, ILL, HttpCall.retryAfter());
  else if (status == CALL_NO_ROOM) retryLater(OVERLOADED, NO_ROOM, 1);
  else if (status == CALL_TIMEOUT) Response.problem(504, UPSTREAM_TIMEOUT, GATEWAY_TIMEOUT, LATE);
  else if (status < 200 || status > 299) Response.problem(502, UPSTREAM_FAILED, BAD_GATEWAY, UNREACHABLE);
  else if (!respond()) refuseAnswer();
  return ANSWERED;
}

function refuseAnswer(): void {
  const type = HttpCall.jsonType(EMPTY);
  if (type == JSON_NO_ROOM) retryLater(OVERLOADED, NO_ROOM, 1);
  else Response.problem(502, UPSTREAM_FAILED, BAD_GATEWAY, type == JSON_TOO_COSTLY ? TOO_COSTLY : INVALID);
}

function retryLater(type: Text, why: Text, seconds: i32): void {
  Response.setRetryAfter(seconds);
  Response.problem(503, type, SERVICE_UNAVAILABLE, why);
}

function invoke(url: Text): i32 {
  const method = Request.method();
  // An answer to HEAD has no body, and so nothing that it could say.
  const call = new HttpCall(method.equals(HEAD) ? GET : method, url);
  call.timeoutMs = timeoutMs;
  HttpCall.useBreaker();
  HttpCall.passBody();
  if (passesHeaders) HttpCall.passHeaders();
  else {
    // Without its type and encoding, the body would have another meaning.
    passHeader(call, CONTENT_TYPE);
    passHeader(call, CONTENT_ENCODING);
  }
  // The answer is read here, whatever the client could read.
  return call.header(ACCEPT_ENCODING, IDENTITY).send();
}

function passHeader(call: HttpCall, name: Text): void {
  const value = Request.header(name);
  if (value) call.header(name, value);
}

function urlOf(path: Text): Text {
  const query = Request.query();
  const out = new TextBuilder(512).add(origin).add(path);
  if (query && !query.isEmpty) out.byte(hasQuery ? AMPERSAND : MARK).add(encoded(query));
  return out.take();
}

/** Where path or query of a URL begin, behind scheme and host. */
function pathStart(url: Text): i32 {
  let at = url.indexOf(SLASH) + 2;
  while (at < url.length && url.byteAt(at) != SLASH && url.byteAt(at) != MARK) at++;
  return at;
}
