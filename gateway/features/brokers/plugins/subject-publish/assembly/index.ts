import { AckResponse, ANSWERED, Config, EMPTY, MessageHeaders, Nats, Publishing, READY, Request, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CONTENT_TYPE = text("Content-Type");

let subject: Text = EMPTY;
let forwarded: StaticArray<Text> = new StaticArray<Text>(0);
let acknowledgement: AckResponse | null = null;
let defaultBody: Text = EMPTY;

export function init(): i32 {
  Nats.open();
  Request.needBody();
  subject = Config.get("/subject");
  forwarded = Config.list("/headers_from_request");
  acknowledgement = new AckResponse();
  defaultBody = new TextBuilder(64).add(text('{"status":"accepted","subject":"')).json(subject).add(text('"}')).take();
  return READY;
}

export function dispatch(): i32 {
  const headers = new MessageHeaders().addContentType(CONTENT_TYPE).addFromRequest(forwarded);
  const result = Nats.publish(subject, headers);
  if (result >= Publishing.PUBLISHED) acknowledgement!.send(result, defaultBody);
  else Publishing.refuse(result, Nats.retryAfter());
  return ANSWERED;
}
