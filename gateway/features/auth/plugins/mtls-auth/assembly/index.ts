import { ANSWERED, ClientCertificate, Config, CONTINUE, EMPTY, groupsAt, Identity, lowerByte, READY, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CONSUMERS = text("/consumers/");
const SUBJECT_HEADER = text("x-auth-cert-subject");
const FINGERPRINT_HEADER = text("x-auth-cert-fingerprint");
const WWW_AUTHENTICATE = text("www-authenticate");
const CHALLENGE = text('ClientCertificate realm="api"');
const UNAUTHORIZED = text("unauthorized");
const TITLE = text("Unauthorized");
const MISSING = text("a client certificate is required");
const UNKNOWN = text("the client certificate is not accepted");

/** Properties of a certificate that an entry can require: indexes into `PROPERTIES`. */
const FINGERPRINT = 0;
const SUBJECT = 1;
const SUBJECT_CN = 2;
const SAN_URI = 3;
const SAN_DNS = 4;
const SAN_EMAIL = 5;
const PROPERTIES: StaticArray<Text> = [
  text("fingerprint"),
  text("subject"),
  text("subject_cn"),
  text("san_uri"),
  text("san_dns"),
  text("san_email"),
];

@unmanaged
class Consumer {
  constructor(
    public id: Text,
    public groups: Text,
    /** By property; empty where the entry says nothing of it. */
    public wanted: StaticArray<Text>,
  ) {}
}

let consumers: StaticArray<Consumer> = new StaticArray<Consumer>(0);
/** Property that names a client that fits no entry; -1 if such clients are refused. */
let consumerFrom = -1;

export function init(): i32 {
  consumers = new StaticArray<Consumer>(Config.count("/consumers"));
  for (let i = 0; i < consumers.length; i++) consumers[i] = readConsumer(i);
  const from = Config.get("/consumer_from");
  for (let i = 0; i < PROPERTIES.length; i++) if (from.equals(PROPERTIES[i])) consumerFrom = i;
  return READY;
}

export function on_request(): i32 {
  const fingerprint = ClientCertificate.fingerprint();
  if (!fingerprint) return refuse(MISSING);
  for (let i = 0; i < consumers.length; i++) {
    if (fits(consumers[i], fingerprint)) return admit(consumers[i].id, consumers[i].groups, fingerprint);
  }
  if (consumerFrom < 0) return refuse(UNKNOWN);
  const name = valueOf(consumerFrom, 0, fingerprint);
  if (!name || name.isEmpty) return refuse(UNKNOWN);
  return admit(name, EMPTY, fingerprint);
}

function admit(id: Text, groups: Text, fingerprint: Text): i32 {
  Identity.consumer(id);
  Identity.groups(groups);
  Identity.set(SUBJECT_HEADER, ClientCertificate.subject());
  Identity.set(FINGERPRINT_HEADER, fingerprint);
  return CONTINUE;
}

function refuse(detail: Text): i32 {
  Response.setHeader(WWW_AUTHENTICATE, CHALLENGE);
  Response.problem(401, UNAUTHORIZED, TITLE, detail);
  return ANSWERED;
}

/** All that the entry says holds. */
function fits(consumer: Consumer, fingerprint: Text): bool {
  for (let property = 0; property < PROPERTIES.length; property++) {
    const wanted = consumer.wanted[property];
    if (!wanted.isEmpty && !has(property, wanted, fingerprint)) return false;
  }
  return true;
}

/** Alternative names are several: one of them is enough. */
function has(property: i32, wanted: Text, fingerprint: Text): bool {
  let value = valueOf(property, 0, fingerprint);
  for (let index = 1; value; index++) {
    if (property == SAN_DNS ? value.equalsIgnoreCase(wanted) : value.equals(wanted)) return true;
    value = valueOf(property, index, fingerprint);
  }
  return false;
}

function valueOf(property: i32, index: i32, fingerprint: Text): Text | null {
  if (property == SAN_URI) return ClientCertificate.uri(index);
  if (property == SAN_DNS) return ClientCertificate.dnsName(index);
  if (property == SAN_EMAIL) return ClientCertificate.email(index);
  if (index > 0) return null;
  if (property == SUBJECT) return ClientCertificate.subject();
  return property == SUBJECT_CN ? ClientCertificate.commonName() : fingerprint;
}

function readConsumer(index: i32): Consumer {
  const wanted = new StaticArray<Text>(PROPERTIES.length);
  for (let i = 0; i < PROPERTIES.length; i++) {
    const value = Config.at(member(index, PROPERTIES[i]));
    wanted[i] = !value ? EMPTY : i == FINGERPRINT ? plainHex(value) : value;
  }
  const id = Config.at(member(index, text("id")));
  return new Consumer(id ? id : EMPTY, groupsAt(member(index, text("groups"))), wanted);
}

function member(index: i32, name: Text): Text {
  return new TextBuilder(64).add(CONSUMERS).integer(index).byte(0x2f).add(name).take();
}

/** Without colons, in lower case. */
function plainHex(value: Text): Text {
  const out = new TextBuilder(value.length);
  for (let i = 0; i < value.length; i++) if (value.byteAt(i) != 0x3a) out.byte(lowerByte(value.byteAt(i)));
  return out.take();
}
