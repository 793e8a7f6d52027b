import { AckResponse, ANSWERED, Config, EMPTY, Kafka, MessageHeaders, Publishing, READY, Request, RequestValue, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CONTENT_TYPE = text("content-type");

let topic: Text = EMPTY;
let key: RequestValue | null = null;
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
  if (Config.has("/key")) key = new RequestValue(Config.get("/key"));
  return READY;
}

export function dispatch(): i32 {
  const headers = new MessageHeaders().addContentType(CONTENT_TYPE).addFromRequest(forwarded);
  const result = Kafka.publish(topic, key ? key!.of() : null, headers);
  if (result >= Publishing.PUBLISHED) acknowledgement!.send(result, body());
  else Publishing.refuse(result, Kafka.retryAfter());
  return ANSWERED;
}

function body(): Text {
  const out = new TextBuilder(128).add(text('{"status":"accepted","topic":"')).json(topic).byte(0x22);
  if (withPlace) {
    out.add(text(',"partition":')).integer(Kafka.partition());
    out.add(text(',"offset":')).integer(Kafka.offset());
  }
  return out.byte(0x7d).take();
}
