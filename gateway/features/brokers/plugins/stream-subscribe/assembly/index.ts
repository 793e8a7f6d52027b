import { ANSWERED, Config, EMPTY, HANDED_OFF, Kafka, READY, Request, RequestValue, Response, Subscribing, Text, text } from "@gw/plugin-sdk/assembly";

const BAD_REQUEST = text("validation-failed");
const BAD_REQUEST_TITLE = text("Request validation failed");
const NO_KEY = text("The request lacks the header that says which messages it is for.");

let topic: Text = EMPTY;
/** Whose messages are streamed; null: all. */
let key: RequestValue | null = null;

export function init(): i32 {
  Kafka.openStreams();
  topic = Config.get("/topic");
  if (Config.has("/key")) key = new RequestValue(Config.get("/key"));
  return READY;
}

export function dispatch(): i32 {
  let wanted: Text | null = null;
  if (key) {
    wanted = key!.of();
    if (!wanted) {
      Response.problem(400, BAD_REQUEST, BAD_REQUEST_TITLE, NO_KEY);
      return ANSWERED;
    }
  }
  const result = Kafka.subscribe(topic, wanted);
  if (result == Subscribing.STREAMS) return HANDED_OFF;
  Subscribing.refuse(result, Kafka.retryAfter());
  return ANSWERED;
}
