import { AiAnswers, ANSWERED, CONTINUE, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  AiAnswers.open();
  return READY;
}

export function on_response(): i32 {
  return AiAnswers.withheld() ? ANSWERED : CONTINUE;
}
