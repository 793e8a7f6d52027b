import { ANSWERED, CONTINUE, HeaderChanges, isJson, JsonEdit, READY, Request, Response, Text, text } from "@gw/plugin-sdk/assembly";

const CONTENT_TYPE = text("content-type");
const CONTENT_ENCODING = text("content-encoding");
const FAILED = text("upstream-failed");
const FAILED_TITLE = text("Bad gateway");
const NOT_JSON = text("the response is not valid JSON, although Content-Type says so");
const TOO_LARGE = text("the response is larger than 6 MiB and cannot be changed");
const ENCODED = text("the response is compressed and cannot be changed");

/** Of requests, what would have the upstream send the body in another form, or a part of it. */
const FORMS: StaticArray<Text> = [text("accept-encoding"), text("range"), text("if-range")];
/** Of responses, what is true of the old body only. */
const DIGESTS: StaticArray<Text> = [text("etag"), text("content-md5"), text("digest"), text("content-digest"), text("repr-digest"), text("accept-ranges")];
/** Bytes: the body and its changed copy must fit into the memory of a plugin. */
const MAX_BODY: i32 = 6 << 20;

let headers: HeaderChanges = HeaderChanges.none();
let body: JsonEdit = new JsonEdit();

export function init(): i32 {
  headers = HeaderChanges.read("/headers");
  body = JsonEdit.read("/body");
  if (body.isEmpty) Response.passBody();
  return READY;
}

export function on_request(): i32 {
  if (!body.isEmpty) for (let i = 0; i < FORMS.length; i++) Request.removeHeader(FORMS[i]);
  return CONTINUE;
}

export function on_response(): i32 {
  if (!body.isEmpty) {
    const type = Response.header(CONTENT_TYPE);
    if (type && isJson(type) && changeBody() == ANSWERED) return ANSWERED;
  }
  headers.applyToResponse();
  return CONTINUE;
}

function changeBody(): i32 {
  const length = Response.bodyLength();
  if (length == 0) return CONTINUE;
  // What cannot be changed is not sent either: a member that is to be removed may be in it.
  if (Response.header(CONTENT_ENCODING)) return fail(ENCODED);
  if (length > MAX_BODY) return fail(TOO_LARGE);
  const changed = body.apply(Response.body());
  if (!changed) return fail(NOT_JSON);
  Response.setBody(changed);
  for (let i = 0; i < DIGESTS.length; i++) Response.removeHeader(DIGESTS[i]);
  return CONTINUE;
}

function fail(detail: Text): i32 {
  Response.problem(502, FAILED, FAILED_TITLE, detail);
  return ANSWERED;
}
