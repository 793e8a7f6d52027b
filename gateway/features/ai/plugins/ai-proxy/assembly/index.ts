import { Ai, HANDED_OFF, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  Ai.open();
  return READY;
}

export function dispatch(): i32 {
  Ai.answer();
  return HANDED_OFF;
}
