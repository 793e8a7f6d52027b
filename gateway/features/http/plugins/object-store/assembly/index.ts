import {
  ANSWERED, Config, EMPTY, HANDED_OFF, ObjectStore, READY, Request, Response, STORE_BAD_QUERY, STORE_NO_BUCKET, STORE_NO_KEY, Text, text,
} from "@gw/plugin-sdk/assembly";

const VALIDATION_FAILED = text("validation-failed");
const VALIDATION_TITLE = text("Request validation failed");
const NO_BUCKET = text("the path does not name a bucket");
const NO_KEY = text("the path does not name an object: its key is missing, not UTF-8, or has a segment . or ..");
const BAD_QUERY = text("the query is not percent-encoded UTF-8, or has a value without a name");

/** Of all requests; empty where a path parameter names it. */
let bucket: Text = EMPTY;
let bucketParam: Text = EMPTY;
let keyParam: Text = EMPTY;

export function init(): i32 {
  bucket = Config.get("/bucket");
  bucketParam = named(Config.get("/bucket_param"));
  keyParam = named(Config.get("/key_param"));
  ObjectStore.open();
  return READY;
}

export function dispatch(): i32 {
  const result = ObjectStore.stream(bucket.isEmpty ? param(bucketParam) : bucket, param(keyParam));
  if (result == STORE_NO_BUCKET) return refuse(NO_BUCKET);
  if (result == STORE_NO_KEY) return refuse(NO_KEY);
  if (result == STORE_BAD_QUERY) return refuse(BAD_QUERY);
  return HANDED_OFF;
}

/** As the client sent it; empty where the operation has none of this name. */
function param(name: Text): Text {
  const value = Request.pathParamSent(name);
  return value ? value : EMPTY;
}

function refuse(why: Text): i32 {
  Response.problem(400, VALIDATION_FAILED, VALIDATION_TITLE, why);
  return ANSWERED;
}

/** The name of `key` and of `key+`. */
function named(param: Text): Text {
  return param.endsWith(text("+")) ? param.slice(0, param.length - 1) : param;
}
