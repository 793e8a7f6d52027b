import {
  ANSWERED, Bearer, CONTINUE, EXCHANGE_DENIED, EXCHANGE_ISSUED, EXCHANGE_REFUSED, EXCHANGE_TIMEOUT,
  EXCHANGE_UNAVAILABLE, READY, Response, text, TextBuilder, TokenExchange,
} from "@gw/plugin-sdk/assembly";

const RULES = `{
  "token_endpoint": {"$config": "/token_endpoint"},
  "client_id": {"$config": "/client_id"},
  "client_secret": {"$config": "/client_secret"},
  "client_authentication": {"$config": "/client_authentication"},
  "audience": {"$config": "/audience"},
  "resource": {"$config": "/resource"},
  "scope": {"$config": "/scope"},
  "subject_token_type": {"$config": "/subject_token_type"},
  "actor_token": {"$config": "/actor_token"},
  "actor_token_type": {"$config": "/actor_token_type"},
  "requested_token_type": {"$config": "/requested_token_type"},
  "timeout": {"$config": "/timeout"},
  "cache_ttl_seconds": {"$config": "/cache_ttl_seconds"}
}`;
const FORBIDDEN = text("forbidden");
const FORBIDDEN_TITLE = text("Forbidden");
const DENIED = text("the authorization server issues no token for this operation on behalf of the caller");
const UNAVAILABLE = text("issuer-unavailable");
const UNAVAILABLE_TITLE = text("Service unavailable");
const CANNOT_ASK = text("the authorization server is unavailable, so the token cannot be exchanged");
const TIMEOUT = text("upstream-timeout");
const TIMEOUT_TITLE = text("Gateway timeout");
const TOO_SLOW = text("the authorization server did not exchange the token in time");
const FAILED = text("upstream-failed");
const FAILED_TITLE = text("Bad gateway");
const UNUSABLE = text("the authorization server's answer is not a token that can be sent to the upstream");

let exchange: i32 = 0;

export function init(): i32 {
  exchange = TokenExchange.open(RULES);
  return READY;
}

export function on_request(): i32 {
  const token = Bearer.token();
  if (!token || token.isEmpty) {
    Bearer.missing();
    return ANSWERED;
  }
  const result = TokenExchange.exchange(exchange, token);
  if (result != EXCHANGE_ISSUED) {
    refuse(result);
    return ANSWERED;
  }
  Bearer.replace(TokenExchange.token());
  return CONTINUE;
}

function refuse(result: i32): void {
  if (result == EXCHANGE_REFUSED) {
    Bearer.invalid(TokenExchange.refusal());
  } else if (result == EXCHANGE_DENIED) {
    const members = new TextBuilder().add(text('{"code":"')).json(TokenExchange.refusal()).add(text('"}')).take();
    Response.problem(403, FORBIDDEN, FORBIDDEN_TITLE, DENIED, members);
  } else if (result == EXCHANGE_UNAVAILABLE) {
    Response.setRetryAfter(TokenExchange.retryAfter());
    Response.problem(503, UNAVAILABLE, UNAVAILABLE_TITLE, CANNOT_ASK);
  } else if (result == EXCHANGE_TIMEOUT) {
    Response.problem(504, TIMEOUT, TIMEOUT_TITLE, TOO_SLOW);
  } else {
    Response.problem(502, FAILED, FAILED_TITLE, UNUSABLE);
  }
}
