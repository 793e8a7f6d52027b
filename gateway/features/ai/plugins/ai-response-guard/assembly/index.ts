import { AiAnswers, ANSWERED, CONTINUE, READY, Request, Text, text } from "@gw/plugin-sdk/assembly";

/** A part of an answer could hold a part of what the guard looks for. */
const PARTS: StaticArray<Text> = [text("range"), text("if-range")];

export function init(): i32 {
  AiAnswers.open();
  return READY;
}

export function on_request(): i32 {
  for (let i = 0; i < PARTS.length; i++) Request.removeHeader(PARTS[i]);
  return CONTINUE;
}

export function on_response(): i32 {
  return AiAnswers.withheld() ? ANSWERED : CONTINUE;
}
