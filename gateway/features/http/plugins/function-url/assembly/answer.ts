/** The answer of a function: JSON with `statusCode`, `headers`, `multiValueHeaders`, `cookies`, `body`, `isBase64Encoded`. */
import { HttpCall, JSON_ABSENT, JSON_BOOLEAN, JSON_NULL, JSON_NUMBER, Text, text } from "@gw/plugin-sdk/assembly";

const STATUS = text("/statusCode");
const BODY = text("/body");
const BASE64 = text("/isBase64Encoded");
const HEADERS = text("/headers");
const MULTI_VALUE_HEADERS = text("/multiValueHeaders");
const COOKIES = text("/cookies");
const SET_COOKIE = text("set-cookie");
const TRUE = text("true");

/** Responds with the answer of the function. Returns false, and sends nothing, if it does not describe a response. */
export function respond(): bool {
  const status = statusOf();
  if (status == 0) return false;
  if (!HttpCall.respondHeaders(HEADERS, false) || !HttpCall.respondHeaders(MULTI_VALUE_HEADERS, true)) return false;
  if (has(COOKIES) && !HttpCall.respondHeader(SET_COOKIE, COOKIES)) return false;
  return HttpCall.jsonType(BASE64) == JSON_BOOLEAN
    ? HttpCall.respond(status, BODY, isTrue())
    : !has(BASE64) && HttpCall.respond(status, BODY, false);
}

/** An integer of 200 to 599, or 0. */
function statusOf(): i32 {
  if (HttpCall.jsonType(STATUS) != JSON_NUMBER) return 0;
  const digits = HttpCall.json(STATUS);
  if (!digits || digits.length != 3) return 0;
  let status = 0;
  for (let i = 0; i < 3; i++) {
    const byte = digits.byteAt(i);
    if (byte < 0x30 || byte > 0x39) return 0;
    status = status * 10 + <i32>(byte - 0x30);
  }
  return status >= 200 && status <= 599 ? status : 0;
}

/** `null` counts as nothing. */
function has(pointer: Text): bool {
  const type = HttpCall.jsonType(pointer);
  return type != JSON_ABSENT && type != JSON_NULL;
}

function isTrue(): bool {
  const value = HttpCall.json(BASE64);
  return value !== null && value.equals(TRUE);
}
