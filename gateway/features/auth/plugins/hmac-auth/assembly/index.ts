import { ANSWERED, Config, CONTINUE, EMPTY, groupsAt, HmacKeys, Identity, Nonces, now, READY, Request, Response, SHA_256, SHA_512, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";
import { PATH, QUERY, REQUEST_TARGET, signatureBase, TARGET_URI } from "./signature-base";
import { bytesOf, MOST_MEMBERS, Reader, SignatureInput } from "./structured-fields";

const KEYS = text("/keys");
const ID = text("/id");
const CONSUMER = text("/consumer");
const GROUPS = text("/groups");
const KEY_ID_HEADER = text("x-auth-key-id");
const SIGNATURE = text("signature");
const SIGNATURE_INPUT = text("signature-input");
const CONTENT_DIGEST = text("content-digest");
const HMAC_SHA256 = text("hmac-sha256");
const DIGEST_256 = text("sha-256");
const DIGEST_512 = text("sha-512");

const WWW_AUTHENTICATE = text("www-authenticate");
const CHALLENGE = text('Signature realm="api"');
const UNAUTHORIZED = text("unauthorized");
const TITLE = text("Unauthorized");
const MISSING = text("a signature (RFC 9421) is required");
const MALFORMED = text("Signature-Input or Signature is malformed, or uses an unsupported feature");
const UNCOVERED = text("the signature does not cover all required components");
const STALE = text("the signature has no creation time, has expired, or is not yet valid");
const WRONG = text("the signature is invalid");
const NO_DIGEST = text("the signature does not cover the Content-Digest of the body");
const OTHER_BODY = text("the body does not match its Content-Digest");
const NO_NONCE = text("the signature has no nonce");
const REPLAYED = text("the signature was used before");
const FORGOTTEN = text("the signature is older than the nonces that are remembered: sign the request again");
const STATE_UNAVAILABLE = text("state-unavailable");
const STATE_TITLE = text("Service unavailable");
const STATE_DETAIL = text("it cannot be determined whether the signature was used before");

const MOST_NONCE: i32 = 256;

let required: StaticArray<Text> = new StaticArray<Text>(0);
let needsDigest = true;
let maxAge: f64 = 0;
let skew: f64 = 0;
let once = false;

export function init(): i32 {
  required = new StaticArray<Text>(Config.count("/required_components"));
  for (let i = 0; i < required.length; i++) {
    required[i] = Config.at(new TextBuilder(64).add(text("/required_components/")).integer(i).take())!;
  }
  needsDigest = Config.flag("/require_content_digest");
  maxAge = Config.number("/max_age_seconds");
  skew = Config.number("/clock_skew_seconds");
  once = Config.flag("/replay_protection");
  return READY;
}

export function on_request(): i32 {
  const inputs = Request.header(SIGNATURE_INPUT);
  const signatures = Request.header(SIGNATURE);
  if (!inputs || !signatures) return refuse(MISSING);

  // The first signature that holds: a request may carry others, for others.
  let reason = MALFORMED;
  const reader = new Reader(inputs);
  for (let i = 0; i < MOST_MEMBERS && !reader.ended; i++) {
    const label = reader.key();
    if (!label || !reader.equals()) return refuse(MALFORMED);
    const input = reader.signatureInput(label);
    if (!input || !reader.next()) return refuse(MALFORMED);
    const key = holds(input, bytesOf(signatures, label));
    if (key >= 0) return admit(input, key);
    reason = key == IS_WRONG ? WRONG : key == IS_STALE ? STALE : key == IS_UNCOVERED ? UNCOVERED : reason;
  }
  return refuse(reason);
}

const IS_WRONG: i32 = -1;
const IS_MALFORMED: i32 = -2;
const IS_UNCOVERED: i32 = -3;
const IS_STALE: i32 = -4;

/** Index of the key that made it, or why it does not count. */
function holds(input: SignatureInput, code: Text | null): i32 {
  const keyid = input.keyid;
  if (!code || !keyid) return IS_MALFORMED;
  const alg = input.alg;
  if (alg && !alg.equals(HMAC_SHA256)) return IS_MALFORMED;
  for (let i = 0; i < required.length; i++) if (!covers(input, required[i])) return IS_UNCOVERED;
  if (!isFresh(input)) return IS_STALE;
  const base = signatureBase(input);
  return base ? HmacKeys.verify(KEYS, keyid, base, code) : IS_WRONG;
}

/** A target that is covered whole covers its parts; what is not there needs no cover. */
function covers(input: SignatureInput, name: Text): bool {
  if (has(input, name)) return true;
  const part = name.equals(PATH) || name.equals(QUERY);
  if (part && (has(input, TARGET_URI) || has(input, REQUEST_TARGET))) return true;
  return name.equals(QUERY) && Request.target().indexOf(0x3f) < 0;
}

function has(input: SignatureInput, name: Text): bool {
  for (let i = 0; i < input.count; i++) if (input.components[i].equals(name)) return true;
  return false;
}

function isFresh(input: SignatureInput): bool {
  const seconds = now() / 1000;
  const created = <f64>input.created;
  if (created < 0 || created > seconds + skew || created < seconds - maxAge - skew) return false;
  return input.expires < 0 || <f64>input.expires > seconds - skew;
}

function admit(input: SignatureInput, key: i32): i32 {
  // The body is read only now that it is known whose it is.
  const digest = has(input, CONTENT_DIGEST) ? Request.header(CONTENT_DIGEST) : null;
  if (digest) {
    if (!matchesBody(digest)) return refuse(OTHER_BODY);
  } else if (needsDigest && Request.bodyLength() > 0) return refuse(NO_DIGEST);
  if (once) {
    const nonce = input.nonce;
    if (!nonce || nonce.isEmpty || nonce.length > MOST_NONCE) return refuse(NO_NONCE);
    // As long as the signature could come again.
    const state = Nonces.enter(input.keyid!, nonce, input.created, <i32>(maxAge + 2 * skew) + 1);
    if (state == Nonces.UNAVAILABLE) {
      Response.problem(503, STATE_UNAVAILABLE, STATE_TITLE, STATE_DETAIL);
      return ANSWERED;
    }
    if (state != Nonces.NEW) return refuse(state == Nonces.USED ? REPLAYED : FORGOTTEN);
  }
  const entry = new TextBuilder(64).add(KEYS).byte(0x2f).integer(key).take();
  const id = Config.at(new TextBuilder(64).add(entry).add(ID).take());
  const consumer = Config.at(new TextBuilder(64).add(entry).add(CONSUMER).take());
  Identity.consumer(consumer ? consumer : id);
  Identity.groups(groupsAt(new TextBuilder(64).add(entry).add(GROUPS).take()));
  Identity.set(KEY_ID_HEADER, id);
  return CONTINUE;
}

/** By the strongest algorithm that it names and that is known (RFC 9530, section 2). */
function matchesBody(field: Text): bool {
  const long = bytesOf(field, DIGEST_512);
  if (long) return Request.bodyDigest(SHA_512).equals(long);
  const short = bytesOf(field, DIGEST_256);
  return short ? Request.bodyDigest(SHA_256).equals(short) : false;
}

function refuse(detail: Text): i32 {
  Response.setHeader(WWW_AUTHENTICATE, CHALLENGE);
  Response.problem(401, UNAUTHORIZED, TITLE, detail);
  return ANSWERED;
}
