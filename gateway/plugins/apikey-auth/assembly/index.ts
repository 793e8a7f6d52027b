import { ANSWERED, Config, Context, CONTINUE, Credentials, EMPTY, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const KEYS = text("/keys");
const CONSUMER = text("x-auth-consumer");
const GROUPS = text("x-auth-consumer-groups");
const KEY_ID = text("x-auth-key-id");
const KEY_NAME = text("x-auth-key-name");
const KEY_SCOPES = text("x-auth-key-scopes");
const CONTEXT_CONSUMER = text("auth.consumer");
const ID = text("/id");
const NAME = text("/name");
const SCOPES = text("/scopes");
const SCOPE = text("/scopes/");
const WWW_AUTHENTICATE = text("www-authenticate");
const UNAUTHORIZED = text("unauthorized");
const TITLE = text("Unauthorized");
const MISSING = text("an API key is required");
const UNKNOWN = text("the API key is not known");

/** As many consumers are kept ready in memory; those of larger tables are read when their key comes. */
const READY_CONSUMERS = 64;

@unmanaged
class Consumer {
  constructor(
    public id: Text,
    public name: Text,
    public scopes: Text,
  ) {}
}

let consumers: StaticArray<Consumer> = new StaticArray<Consumer>(0);
let inHeader = true;
let credential: Text = EMPTY;
let challenge: Text = EMPTY;

export function init(): i32 {
  inHeader = !Config.get("/key_location", "header").equals(text("query"));
  credential = inHeader ? Config.get("/header_name", "X-API-Key") : Config.get("/query_param", "api_key");
  const out = new TextBuilder().add(text('ApiKey realm="api", in="')).add(text(inHeader ? "header" : "query"));
  out.add(text('", name="'));
  for (let i = 0; i < credential.length; i++) {
    const byte = credential.byteAt(i);
    // A quoted string of RFC 9110, within ASCII.
    if (byte == 0x22 || byte == 0x5c) out.byte(0x5c).byte(byte);
    else if (byte >= 0x20 && byte < 0x7f) out.byte(byte);
    else out.byte(0x3f);
  }
  challenge = out.byte(0x22).take();
  consumers = new StaticArray<Consumer>(min(Config.count("/keys"), READY_CONSUMERS));
  for (let i = 0; i < consumers.length; i++) consumers[i] = readConsumer(i);
  return READY;
}

export function on_request(): i32 {
  const key = inHeader ? Request.header(credential) : Request.queryParam(credential);
  if (!key || key.isEmpty) return refuse(MISSING);
  const index = Credentials.find(KEYS, key);
  if (index < 0) return refuse(UNKNOWN);

  const consumer = index < consumers.length ? consumers[index] : readConsumer(index);
  Request.setHeader(CONSUMER, consumer.id);
  Request.setHeader(GROUPS, consumer.scopes);
  Request.setHeader(KEY_ID, consumer.id);
  Request.setHeader(KEY_NAME, consumer.name);
  Request.setHeader(KEY_SCOPES, consumer.scopes);
  Context.set(CONTEXT_CONSUMER, consumer.id);
  // A key in the query would end up in the upstream's logs; a header does not.
  if (!inHeader) Request.removeQueryParam(credential);
  return CONTINUE;
}

function refuse(detail: Text): i32 {
  Response.setHeader(WWW_AUTHENTICATE, challenge);
  Response.problem(401, UNAUTHORIZED, TITLE, detail);
  return ANSWERED;
}

function readConsumer(index: i32): Consumer {
  const entry = new TextBuilder(64).add(KEYS).byte(0x2f).integer(index).take();
  return new Consumer(property(entry, ID), property(entry, NAME), scopesOf(entry));
}

function property(entry: Text, name: Text): Text {
  const value = Config.at(new TextBuilder(64).add(entry).add(name).take());
  return value ? value : EMPTY;
}

/** Joined with commas; commas within one are percent-encoded. */
function scopesOf(entry: Text): Text {
  const count = Config.countAt(new TextBuilder(64).add(entry).add(SCOPES).take());
  const out = new TextBuilder(128);
  for (let i = 0; i < count; i++) {
    const scope = Config.at(new TextBuilder(64).add(entry).add(SCOPE).integer(i).take());
    if (!scope) continue;
    if (i > 0) out.byte(0x2c);
    for (let j = 0; j < scope.length; j++) {
      const byte = scope.byteAt(j);
      if (byte == 0x2c) out.percent(byte);
      else out.byte(byte);
    }
  }
  return out.take();
}
