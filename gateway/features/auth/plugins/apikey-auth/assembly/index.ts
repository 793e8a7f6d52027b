import { ANSWERED, Config, CONTINUE, Credentials, EMPTY, groupsAt, Identity, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const KEYS = text("/keys");
const KEY_ID = text("x-auth-key-id");
const KEY_NAME = text("x-auth-key-name");
const KEY_SCOPES = text("x-auth-key-scopes");
const ID = text("/id");
const NAME = text("/name");
const SCOPES = text("/scopes");
const WWW_AUTHENTICATE = text("www-authenticate");
const UNAUTHORIZED = text("unauthorized");
const TITLE = text("Unauthorized");
const MISSING = text("an API key is required");
const UNKNOWN = text("the API key is invalid");

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
let strips = false;
let credential: Text = EMPTY;
let challenge: Text = EMPTY;

export function init(): i32 {
  inHeader = !Config.get("/key_location").equals(text("query"));
  // A key in the query would end up in the upstream's logs; a header does not.
  strips = Config.has("/strip_credentials") ? Config.flag("/strip_credentials") : !inHeader;
  credential = inHeader ? Config.get("/header_name") : Config.get("/query_param");
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
  Identity.consumer(consumer.id);
  Identity.groups(consumer.scopes);
  Identity.set(KEY_ID, consumer.id);
  Identity.set(KEY_NAME, consumer.name);
  Request.setHeader(KEY_SCOPES, consumer.scopes);
  if (strips) strip();
  return CONTINUE;
}

function strip(): void {
  if (inHeader) Request.removeHeader(credential);
  else Request.removeQueryParam(credential);
}

function refuse(detail: Text): i32 {
  Response.setHeader(WWW_AUTHENTICATE, challenge);
  Response.problem(401, UNAUTHORIZED, TITLE, detail);
  return ANSWERED;
}

function readConsumer(index: i32): Consumer {
  const entry = new TextBuilder(64).add(KEYS).byte(0x2f).integer(index).take();
  return new Consumer(property(entry, ID), property(entry, NAME), groupsAt(new TextBuilder(64).add(entry).add(SCOPES).take()));
}

function property(entry: Text, name: Text): Text {
  const value = Config.at(new TextBuilder(64).add(entry).add(name).take());
  return value ? value : EMPTY;
}
