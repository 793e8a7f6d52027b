import {
  ANSWERED, Bearer, commaSeparated, Config, CONTINUE, EMPTY, grants, Identity, READY, scopesOfToken, Text, text, Token,
} from "@gw/plugin-sdk/assembly";

const RULES = `{"introspection": {
  "url": {"$config": "/introspection_endpoint"},
  "client_id": {"$config": "/client_id"},
  "client_secret": {"$config": "/client_secret"},
  "timeout": {"$config": "/timeout"},
  "cache_ttl_seconds": {"$config": "/cache_ttl_seconds"}
}}`;
const SUB = text("/sub");
const USERNAME = text("/username");
const CLIENT_ID = text("/client_id");
const AUTH_SUB = text("x-auth-sub");
const AUTH_SCOPE = text("x-auth-scope");
const AUTH_CLIENT_ID = text("x-auth-client-id");
const AUTH_USERNAME = text("x-auth-username");

let verifier: i32 = 0;
let requiredScopes: Text = EMPTY;
let stripCredentials = false;

export function init(): i32 {
  verifier = Token.open(RULES);
  requiredScopes = Config.get("/required_scopes");
  stripCredentials = Config.flag("/strip_credentials");
  return READY;
}

export function on_request(): i32 {
  if (!Bearer.holds(verifier, Bearer.token())) return ANSWERED;
  const scopes = scopesOfToken();
  if (!grants(scopes, requiredScopes)) {
    Bearer.lacksScope(requiredScopes);
    return ANSWERED;
  }
  const sub = Token.claim(SUB);
  const username = Token.claim(USERNAME);
  const clientId = Token.claim(CLIENT_ID);
  // A token that no user stands behind is its client's own.
  Identity.consumer(sub ? sub : username ? username : clientId);
  Identity.groups(commaSeparated(scopes));
  Identity.set(AUTH_SUB, sub);
  Identity.set(AUTH_SCOPE, scopes);
  Identity.set(AUTH_CLIENT_ID, clientId);
  Identity.set(AUTH_USERNAME, username);
  Identity.claims();
  if (stripCredentials) Bearer.strip();
  return CONTINUE;
}
