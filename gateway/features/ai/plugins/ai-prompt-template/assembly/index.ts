import { AiTemplates, ANSWERED, CONTINUE, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  AiTemplates.open();
  return READY;
}

export function on_request(): i32 {
  return AiTemplates.refused() ? ANSWERED : CONTINUE;
}
