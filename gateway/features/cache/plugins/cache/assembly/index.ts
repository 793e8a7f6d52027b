import { ANSWERED, Cache, Config, CONTINUE, EMPTY, READY, Request, Text, text } from "@gw/plugin-sdk/assembly";

/** Name of the caller: set by authentication plugins, never by clients. */
const CONSUMER = text("x-auth-consumer");

let cache: i32 = 0;
let perConsumer: bool = false;

export function init(): i32 {
  perConsumer = Config.flag("/per_consumer");
  cache = Cache.open(Config.get(""));
  return READY;
}

export function on_request(): i32 {
  return Cache.lookup(cache, partition()) ? ANSWERED : CONTINUE;
}

export function on_response(): i32 {
  return Cache.settle(cache) ? ANSWERED : CONTINUE;
}

/** Requests of nobody in particular share what is stored for them. */
function partition(): Text {
  if (!perConsumer) return EMPTY;
  const consumer = Request.header(CONSUMER);
  return consumer ? consumer : EMPTY;
}
