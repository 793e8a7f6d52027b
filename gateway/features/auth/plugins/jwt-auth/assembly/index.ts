import {
  ANSWERED, Bearer, commaSeparated, Config, CONTINUE, EMPTY, Identity, namesAt, READY, Text, text, TextBuilder, Token,
} from "@gw/plugin-sdk/assembly";

const RULES = `{"jwt": {
  "algorithms": {"$config": "/algorithms"},
  "issuer": {"$config": "/issuer"},
  "audience": {"$config": "/audience"},
  "clock_skew_seconds": {"$config": "/clock_skew_seconds"},
  "jwks_url": {"$config": "/jwks_url"},
  "jwks": {"$config": "/jwks"},
  "public_key": {"$config": "/public_key"},
  "jwks_refresh_seconds": {"$config": "/jwks_refresh_seconds"},
  "timeout": {"$config": "/timeout"},
  "skip_signature_validation": {"$config": "/skip_signature_validation"}
}}`;
const SUB = text("/sub");
const AUTH_SUB = text("x-auth-sub");
const SCOPE = text("/scope");

let verifier: i32 = 0;
let stripCredentials = false;
/** Pointer to the claim that holds the groups; empty if the config names no claim. */
let groupsClaim: Text = EMPTY;

export function init(): i32 {
  verifier = Token.open(RULES);
  stripCredentials = Config.flag("/strip_credentials");
  const claim = Config.get("/groups_claim");
  if (!claim.isEmpty) groupsClaim = claim.byteAt(0) == 0x2f ? claim : pointerTo(claim);
  return READY;
}

export function on_request(): i32 {
  if (!Bearer.holds(verifier, Bearer.token())) return ANSWERED;
  const sub = Token.claim(SUB);
  Identity.consumer(sub);
  Identity.groups(groups());
  Identity.set(AUTH_SUB, sub);
  Identity.claims();
  if (stripCredentials) Bearer.strip();
  return CONTINUE;
}

function groups(): Text {
  if (groupsClaim.isEmpty) return EMPTY;
  // The one claim that is a list by its own definition, with spaces (RFC 8693, section 4.2).
  if (groupsClaim.equals(SCOPE)) return commaSeparated(namesAt(SCOPE, 0x20));
  return namesAt(groupsClaim, 0x2c);
}

/** The JSON pointer to a claim by its name (RFC 6901, section 3). */
function pointerTo(name: Text): Text {
  const out = new TextBuilder(name.length + 16).byte(0x2f);
  for (let i = 0; i < name.length; i++) {
    const byte = name.byteAt(i);
    if (byte == 0x7e) out.byte(0x7e).byte(0x30);
    else if (byte == 0x2f) out.byte(0x7e).byte(0x31);
    else out.byte(byte);
  }
  return out.take();
}
