import { AiTokens, ANSWERED, CONTINUE, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  AiTokens.open();
  return READY;
}

export function on_request(): i32 {
  return AiTokens.refused() ? ANSWERED : CONTINUE;
}
