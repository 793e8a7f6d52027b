/** What a function answers: JSON with `statusCode`, `headers`, `multiValueHeaders`, `cookies`, `body`, `isBase64Encoded`. */
import {
  HttpCall, JSON_ABSENT, JSON_ARRAY, JSON_BOOLEAN, JSON_NULL, JSON_NUMBER, JSON_OBJECT, JSON_TEXT, Text,
  text, TextBuilder,
} from "@gw/plugin-sdk/assembly";

const STATUS = text("/statusCode");
const BODY = text("/body");
const BASE64 = text("/isBase64Encoded");
const HEADERS = text("/headers");
const MULTI_VALUE_HEADERS = text("/multiValueHeaders");
const COOKIES = text("/cookies");
const SET_COOKIE = text("set-cookie");
const SLASH: u8 = 0x2f;
const TILDE: u8 = 0x7e;

/** Answers with it; false where it does not describe a response, and nothing is answered then. */
export function respond(): bool {
  const status = statusOf();
  if (status == 0 || !addHeaders() || !addMultiValueHeaders() || !addCookies()) return false;
  const encoded = HttpCall.jsonType(BASE64);
  if (!isNothing(encoded) && encoded != JSON_BOOLEAN) return false;
  return HttpCall.respond(status, BODY, isTrue(BASE64));
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

function addHeaders(): bool {
  const type = HttpCall.jsonType(HEADERS);
  if (type != JSON_OBJECT) return isNothing(type);
  const count = HttpCall.jsonCount(HEADERS);
  for (let i = 0; i < count; i++) {
    const name = HttpCall.jsonKey(HEADERS, i);
    if (!name || !addHeader(name, memberOf(HEADERS, name), true)) return false;
  }
  return true;
}

/** Each a list of values, which take the place of those in `headers`. */
function addMultiValueHeaders(): bool {
  const type = HttpCall.jsonType(MULTI_VALUE_HEADERS);
  if (type != JSON_OBJECT) return isNothing(type);
  const count = HttpCall.jsonCount(MULTI_VALUE_HEADERS);
  for (let i = 0; i < count; i++) {
    const name = HttpCall.jsonKey(MULTI_VALUE_HEADERS, i);
    if (!name || !addEach(name, memberOf(MULTI_VALUE_HEADERS, name), true)) return false;
  }
  return true;
}

function addCookies(): bool {
  const type = HttpCall.jsonType(COOKIES);
  return isNothing(type) || addEach(SET_COOKIE, COOKIES, false);
}

/** The values of a list; the first replaces what there is, where that is wanted. */
function addEach(name: Text, list: Text, replaces: bool): bool {
  if (HttpCall.jsonType(list) != JSON_ARRAY) return false;
  const count = HttpCall.jsonCount(list);
  for (let i = 0; i < count; i++) {
    const place = new TextBuilder(list.length + 12).add(list).byte(SLASH).integer(i).take();
    if (!addHeader(name, place, replaces && i == 0)) return false;
  }
  return true;
}

/** The value at a pointer: a string, number or boolean. */
function addHeader(name: Text, pointer: Text, replaces: bool): bool {
  const type = HttpCall.jsonType(pointer);
  if (type != JSON_TEXT && type != JSON_NUMBER && type != JSON_BOOLEAN) return false;
  const value = HttpCall.json(pointer);
  return value !== null && HttpCall.respondHeader(name, value, replaces);
}

/** The pointer to a member; a name with a slash is none of a header, and is not looked for. */
function memberOf(pointer: Text, name: Text): Text {
  const out = new TextBuilder(pointer.length + name.length + 8).add(pointer).byte(SLASH);
  for (let i = 0; i < name.length; i++) {
    out.byte(name.byteAt(i));
    if (name.byteAt(i) == TILDE) out.byte(0x30);
  }
  return out.take();
}

function isNothing(type: i32): bool {
  return type == JSON_ABSENT || type == JSON_NULL;
}

function isTrue(pointer: Text): bool {
  const value = HttpCall.json(pointer);
  return value !== null && value.equals(text("true"));
}
