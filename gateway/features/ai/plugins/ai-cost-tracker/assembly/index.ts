import { AiCosts, ANSWERED, CONTINUE, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  AiCosts.open();
  return READY;
}

export function on_request(): i32 {
  return AiCosts.refused() ? ANSWERED : CONTINUE;
}
