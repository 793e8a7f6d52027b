import {
  ANSWERED, Bearer, commaSeparated, Config, CONTINUE, EMPTY, grants, Identity, READY, Request, scopesOfToken, Text, text, Token,
} from "@gw/plugin-sdk/assembly";

const RULES = `{"jwt": {
  "algorithms": ["RS256", "RS384", "RS512", "ES256", "ES384"],
  "issuer_url": {"$config": "/issuer_url"},
  "issuer": {"$config": "/issuer_override"},
  "audience": {"$config": "/audience"},
  "clock_skew_seconds": {"$config": "/clock_skew_seconds"},
  "jwks_refresh_seconds": {"$config": "/jwks_refresh_seconds"},
  "timeout": {"$config": "/timeout"}
}}`;
const SUB = text("/sub");
const AUTH_SUB = text("x-auth-sub");
const AUTH_SCOPE = text("x-auth-scope");
const ACCESS_TOKEN = text("access_token");

let verifier: i32 = 0;
let requiredScopes: Text = EMPTY;
let inQuery = false;
let stripCredentials = false;

export function init(): i32 {
  verifier = Token.open(RULES);
  requiredScopes = Config.get("/required_scopes");
  inQuery = Config.flag("/allow_query_token");
  stripCredentials = Config.flag("/strip_credentials");
  return READY;
}

export function on_request(): i32 {
  if (!Bearer.holds(verifier, token())) return ANSWERED;
  const scopes = scopesOfToken();
  if (!grants(scopes, requiredScopes)) {
    Bearer.lacksScope(requiredScopes);
    return ANSWERED;
  }
  const sub = Token.claim(SUB);
  Identity.consumer(sub);
  Identity.groups(commaSeparated(scopes));
  Identity.set(AUTH_SUB, sub);
  Identity.set(AUTH_SCOPE, scopes);
  Identity.claims();
  if (stripCredentials) Bearer.strip();
  return CONTINUE;
}

/** Of the header, or else of the query, which upstreams never get to see: it ends up in logs. */
function token(): Text | null {
  const fromHeader = Bearer.token();
  if (!inQuery) return fromHeader;
  const fromQuery = Request.queryParam(ACCESS_TOKEN);
  if (fromQuery) Request.removeQueryParam(ACCESS_TOKEN);
  return fromHeader ? fromHeader : fromQuery;
}
