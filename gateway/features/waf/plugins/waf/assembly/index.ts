import { ANSWERED, CONTINUE, READY, Waf } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  Waf.open();
  return READY;
}

export function on_request(): i32 {
  return Waf.request() ? ANSWERED : CONTINUE;
}

export function on_response(): i32 {
  return Waf.response() ? ANSWERED : CONTINUE;
}
