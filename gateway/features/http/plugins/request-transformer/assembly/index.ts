import { ANSWERED, CONTINUE, HeaderChanges, isJson, JsonEdit, QueryChanges, READY, Request, Response, Text, text } from "@gw/plugin-sdk/assembly";

const CONTENT_TYPE = text("content-type");
const CONTENT_ENCODING = text("content-encoding");
const INVALID = text("validation-failed");
const INVALID_TITLE = text("Request validation failed");
const NOT_JSON = text("the body is not valid JSON, although Content-Type says so");
const TOO_LARGE = text("payload-too-large");
const TOO_LARGE_TITLE = text("Payload Too Large");
const TOO_LARGE_DETAIL = text("a body larger than 6 MiB cannot be changed");
const ENCODED = text("unsupported-media-type");
const ENCODED_TITLE = text("Unsupported media type");
const ENCODED_DETAIL = text("a compressed body cannot be changed: send it without Content-Encoding");

/** Bytes: the body and its changed copy must fit into the memory of a plugin. */
const MAX_BODY: i32 = 6 << 20;

let headers: HeaderChanges = HeaderChanges.none();
let query: QueryChanges = QueryChanges.none();
let body: JsonEdit = new JsonEdit();

export function init(): i32 {
  headers = HeaderChanges.read("/headers");
  query = QueryChanges.read("/query");
  body = JsonEdit.read("/body");
  if (!body.isEmpty) Request.needBody(true);
  return READY;
}

export function on_request(): i32 {
  // The body first: its changes read the request as it came.
  if (!body.isEmpty) {
    const type = Request.header(CONTENT_TYPE);
    if (type && isJson(type) && changeBody() == ANSWERED) return ANSWERED;
  }
  query.apply();
  headers.applyToRequest();
  return CONTINUE;
}

function changeBody(): i32 {
  const length = Request.bodyLength();
  if (length == 0) return CONTINUE;
  if (Request.hasHeader(CONTENT_ENCODING)) return refuse(415, ENCODED, ENCODED_TITLE, ENCODED_DETAIL);
  if (length > MAX_BODY) return refuse(413, TOO_LARGE, TOO_LARGE_TITLE, TOO_LARGE_DETAIL);
  const changed = body.apply(Request.body());
  if (!changed) return refuse(400, INVALID, INVALID_TITLE, NOT_JSON);
  Request.setBody(changed);
  return CONTINUE;
}

function refuse(status: i32, type: Text, title: Text, detail: Text): i32 {
  Response.problem(status, type, title, detail);
  return ANSWERED;
}
