import { ANSWERED, Config, Context, CONTINUE, EMPTY, RateLimit, RateLimitResult, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CLIENT_IP = 0;
const HEADER = 1;
const CONTEXT = 2;
const STATIC = 3;
/** As CLIENT_IP, and each IPv6 address counts by itself. */
const EXACT_IP = 4;

const POLICY = text("x-ratelimit-policy");
const LIMIT = text("x-ratelimit-limit");
const REMAINING = text("x-ratelimit-remaining");
const RESET = text("x-ratelimit-reset");
const IETF_POLICY = text("ratelimit-policy");
const IETF = text("ratelimit");
const TYPE = text("rate-limited");
const TITLE = text("Too many requests");
const DETAIL = text("the quota of this policy is exhausted; Retry-After says when to try again");
const UNAVAILABLE_TYPE = text("state-unavailable");
const UNAVAILABLE_TITLE = text("Service unavailable");
const UNAVAILABLE_DETAIL = text("the quota of this policy cannot be checked at present");
/** Context key of the remaining quota of the tightest policy; by it, stacked policies agree on the headers. */
const TIGHTEST = text("rate_limit.remaining");

let quota: i32 = 0;
let window: i32 = 0;
let kind: i32 = CLIENT_IP;
/** Name of the header or context key, or the static text. */
let key: Text = EMPTY;
/** `<policy>|<kind of partition>|`, before the partition's value. */
let prefix: Text = EMPTY;
let absent: Text = EMPTY;
/** `"<policy>"`, as a structured field's string. */
let quoted: Text = EMPTY;
let limitText: Text = EMPTY;
let policyHeader: Text = EMPTY;
/** Where the store of counters is away, requests are refused, or counted here; else they pass. */
let deniesUncounted: bool = false;
let countsLocally: bool = false;

export function init(): i32 {
  quota = <i32>Config.number("/quota");
  window = <i32>Config.number("/window");
  if (quota < 1 || window < 1) return Config.refuse("quota and window must be 1 or more");
  const policy = Config.get("/policy_name");
  const partition = Config.get("/partition_key");
  let tag: Text;
  if (partition.equals(text("client_ip"))) {
    kind = Config.get("/ipv6_by").equals(text("address")) ? EXACT_IP : CLIENT_IP;
    tag = text("ip");
  } else if (partition.startsWith(text("header:"))) {
    kind = HEADER;
    key = partition.slice(7).trim().lower();
    tag = new TextBuilder().add(text("header:")).add(key).take();
  } else if (partition.startsWith(text("context:"))) {
    kind = CONTEXT;
    key = partition.slice(8);
    tag = new TextBuilder().add(text("context:")).add(key).take();
  } else {
    kind = STATIC;
    key = partition;
    tag = text("static");
  }
  if (kind != CLIENT_IP && kind != EXACT_IP && key.isEmpty) return Config.refuse("partition_key: a name must follow the colon");
  prefix = new TextBuilder().add(policy).byte(0x7c).add(tag).byte(0x3d).take();
  absent = new TextBuilder().add(policy).byte(0x7c).add(tag).take();
  quoted = new TextBuilder().byte(0x22).add(policy).byte(0x22).take();
  limitText = new TextBuilder().integer(quota).take();
  policyHeader = new TextBuilder().add(quoted).add(text(";q=")).integer(quota).add(text(";w=")).integer(window).take();
  const onFailure = Config.get("/on_state_failure");
  deniesUncounted = onFailure.equals(text("deny"));
  countsLocally = onFailure.equals(text("local"));
  return READY;
}

export function on_request(): i32 {
  const value = partitionOf();
  const bucket = value ? new TextBuilder(prefix.length + value.length).add(prefix).add(value).take() : absent;
  let result = RateLimit.take(bucket, quota, window);
  if (!result.available && countsLocally) result = RateLimit.takeLocal(bucket, quota, window);
  if (!result.available) return deniesUncounted ? refuseUncounted() : CONTINUE;
  if (!result.allowed) return refuse(result);
  show(result);
  return CONTINUE;
}

/** Null where the header or context value is absent: all such requests share one bucket. */
function partitionOf(): Text | null {
  switch (kind) {
    case CLIENT_IP:
      return Request.clientNetwork();
    case EXACT_IP:
      return Request.clientIp();
    case HEADER:
      return Request.header(key);
    case CONTEXT:
      return Context.get(key);
    default:
      return key;
  }
}

/** Headers of an allowed response, unless another policy of this request has less left. */
function show(result: RateLimitResult): void {
  const remaining = <i64>result.remaining;
  const shown = Context.get(TIGHTEST);
  if (shown && wholeNumber(shown) <= remaining) return;
  const left = new TextBuilder(16).integer(remaining).take();
  Context.set(TIGHTEST, left);
  Response.setHeader(POLICY, policyHeader);
  Response.setHeader(LIMIT, limitText);
  Response.setHeader(REMAINING, left);
  Response.setHeader(RESET, new TextBuilder(16).integer(<i64>ceil(result.reset)).take());
}

function refuse(result: RateLimitResult): i32 {
  const retry = max<i64>(1, <i64>ceil(result.retryAfter));
  // The headers of an earlier policy do not describe this answer.
  Response.removeHeader(POLICY);
  Response.removeHeader(LIMIT);
  Response.removeHeader(REMAINING);
  Response.removeHeader(RESET);
  Response.setHeader(IETF_POLICY, policyHeader);
  Response.setHeader(IETF, new TextBuilder(64).add(quoted).add(text(";r=0;t=")).integer(retry).take());
  Response.setRetryAfter(retry);
  Response.problem(429, TYPE, TITLE, DETAIL);
  return ANSWERED;
}

function refuseUncounted(): i32 {
  Response.setRetryAfter(1);
  Response.problem(503, UNAVAILABLE_TYPE, UNAVAILABLE_TITLE, UNAVAILABLE_DETAIL);
  return ANSWERED;
}

function wholeNumber(value: Text): i64 {
  let number: i64 = 0;
  for (let i = 0; i < value.length; i++) number = number * 10 + <i64>(value.byteAt(i) - 0x30);
  return number;
}
