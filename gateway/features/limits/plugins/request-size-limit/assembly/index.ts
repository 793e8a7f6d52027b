import { ANSWERED, Config, CONTINUE, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CONTENT_LENGTH = text("content-length");
const TYPE = text("payload-too-large");
const TITLE = text("Payload Too Large");
const DETAIL_START = text("The request body has ");
const DETAIL_LIMIT = text(" bytes; the limit is ");
const DETAIL_END = text(" bytes.");

let maxBytes: i32 = 1_048_576;
let checksLength = true;

export function init(): i32 {
  maxBytes = <i32>Config.number("/max_bytes");
  checksLength = !Config.has("/check_content_length") || Config.flag("/check_content_length");
  return READY;
}

export function on_request(): i32 {
  if (checksLength) {
    const announced = Request.header(CONTENT_LENGTH);
    const length = announced ? wholeNumber(announced) : 0;
    if (length > maxBytes) return refuse(length);
  }
  const length = Request.limitBody(maxBytes);
  return length > maxBytes ? refuse(length) : CONTINUE;
}

function refuse(length: i64): i32 {
  const detail = new TextBuilder(96).add(DETAIL_START).integer(length).add(DETAIL_LIMIT).integer(maxBytes);
  Response.problem(413, TYPE, TITLE, detail.add(DETAIL_END).take());
  return ANSWERED;
}

/** The gateway has already refused a value that is not a number, or is above its own limit. */
function wholeNumber(value: Text): i64 {
  let number: i64 = 0;
  for (let i = 0; i < value.length; i++) number = number * 10 + <i64>(value.byteAt(i) - 0x30);
  return number;
}
