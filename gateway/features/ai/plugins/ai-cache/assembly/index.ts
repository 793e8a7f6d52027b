import { AiCache, ANSWERED, CONTINUE, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  AiCache.open();
  return READY;
}

export function on_request(): i32 {
  return AiCache.lookup() ? ANSWERED : CONTINUE;
}

export function on_response(): i32 {
  AiCache.settle();
  return CONTINUE;
}
