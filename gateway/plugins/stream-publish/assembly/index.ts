import { AckResponse, ANSWERED, Config, EMPTY, Kafka, MessageHeaders, Publishing, READY, Request, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CONTENT_TYPE = text("content-type");
const FROM_HEADER = text("$request.header.");
const FROM_PATH = text("$request.path.");

/** Where a message's key comes from. */
const NONE: i32 = 0;
const LITERAL: i32 = 1;
const HEADER: i32 = 2;
const PATH: i32 = 3;

let topic: Text = EMPTY;
let keySource: i32 = NONE;
/** The literal, or the name of header or parameter. */
let keyText: Text = EMPTY;
let forwarded: StaticArray<Text> = new StaticArray<Text>(0);
let acknowledgement: AckResponse | null = null;
let withPlace = false;

export function init(): i32 {
  Kafka.open();
  Request.needBody();
  topic = Config.get("/topic");
  forwarded = Config.list("/headers_from_request");
  acknowledgement = new AckResponse();
  withPlace = Config.flag("/include_metadata");
  if (Config.has("/key")) readKey(Config.get("/key"));
  return READY;
}

function readKey(expression: Text): void {
  keySource = expression.startsWith(FROM_HEADER) ? HEADER : expression.startsWith(FROM_PATH) ? PATH : LITERAL;
  const prefix = keySource == HEADER ? FROM_HEADER.length : keySource == PATH ? FROM_PATH.length : 0;
  keyText = expression.slice(prefix);
}

export function dispatch(): i32 {
  const headers = new MessageHeaders().addContentType(CONTENT_TYPE).addFromRequest(forwarded);
  const result = Kafka.publish(topic, key(), headers);
  if (result >= Publishing.PUBLISHED) acknowledgement!.send(result, body());
  else Publishing.refuse(result, Kafka.retryAfter());
  return ANSWERED;
}

/** Null where the request does not have what it is taken from. */
function key(): Text | null {
  if (keySource == HEADER) return Request.header(keyText);
  if (keySource == PATH) return Request.pathParam(keyText);
  return keySource == LITERAL ? keyText : null;
}

function body(): Text {
  const out = new TextBuilder(128).add(text('{"status":"accepted","topic":"')).json(topic).byte(0x22);
  if (withPlace) {
    out.add(text(',"partition":')).integer(Kafka.partition());
    out.add(text(',"offset":')).integer(Kafka.offset());
  }
  return out.byte(0x7d).take();
}
