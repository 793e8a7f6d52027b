import { AiPrompts, ANSWERED, CONTINUE, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  AiPrompts.open();
  return READY;
}

export function on_request(): i32 {
  return AiPrompts.check() ? ANSWERED : CONTINUE;
}

export function on_response(): i32 {
  return AiPrompts.restore() ? ANSWERED : CONTINUE;
}
