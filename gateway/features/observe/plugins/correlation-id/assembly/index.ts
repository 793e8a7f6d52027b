import { Config, Context, CONTINUE, EMPTY, lowerByte, READY, Request, Response, Text, text, Uuid } from "@gw/plugin-sdk/assembly";

const CONTEXT_ID = text("correlation.id");

const NONE = 0;
const TOKEN = 1;
const UUID = 2;

let header: Text = EMPTY;
let sortable = false;
let accepts: i32 = TOKEN;
let maxLength: i32 = 128;
let echoes = true;

export function init(): i32 {
  header = Config.get("/header_name").lower();
  sortable = Config.get("/generator").equals(text("uuid-v7"));
  const accept = Config.get("/accept");
  accepts = accept.equals(text("none")) ? NONE : accept.equals(text("uuid")) ? UUID : TOKEN;
  maxLength = <i32>Config.number("/max_length");
  echoes = !Config.has("/echo") || Config.flag("/echo");
  return READY;
}

export function on_request(): i32 {
  const given = accepted();
  if (given) return carry(given);
  const made = sortable ? Uuid.v7() : Uuid.v4();
  Request.setHeader(header, made);
  return carry(made);
}

function carry(id: Text): i32 {
  Context.set(CONTEXT_ID, id);
  if (echoes) Response.setHeader(header, id);
  return CONTINUE;
}

/** The client's identifier; null if the request has none, or the config does not accept it. */
function accepted(): Text | null {
  if (accepts == NONE) return null;
  const id = Request.header(header);
  if (!id || id.isEmpty || id.length > maxLength) return null;
  return (accepts == UUID ? isUuid(id) : isToken(id)) ? id : null;
}

function isToken(id: Text): bool {
  for (let i = 0; i < id.length; i++) if (!isTokenByte(id.byteAt(i))) return false;
  return true;
}

/** Whether a byte has no special meaning in a log line, a URL or a shell. */
function isTokenByte(byte: u8): bool {
  const letter = lowerByte(byte);
  if ((letter >= 0x61 && letter <= 0x7a) || (byte >= 0x2d && byte <= 0x3a)) return true;
  return byte == 0x2b || byte == 0x3d || byte == 0x5f || byte == 0x7e;
}

/** Of any version, in any case. */
function isUuid(id: Text): bool {
  if (id.length != 36) return false;
  for (let i = 0; i < 36; i++) {
    const byte = lowerByte(id.byteAt(i));
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (byte != 0x2d) return false;
    } else if (!((byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66))) return false;
  }
  return true;
}
