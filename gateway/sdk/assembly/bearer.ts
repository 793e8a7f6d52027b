/** Bearer tokens of requests, and refusing them as RFC 6750 says (section 3). */
import { Response } from "./response";
import { Request } from "./request";
import { EMPTY, lowerByte, Text, text, TextBuilder } from "./text";
import { Token, TOKEN_HOLDS, TOKEN_REFUSED } from "./token";

const AUTHORIZATION = text("authorization");
const SCHEME = text("bearer");
const BEARER = text("Bearer ");
const WWW_AUTHENTICATE = text("www-authenticate");
const CHALLENGE = text('Bearer realm="api"');
const INVALID = text('Bearer realm="api", error="invalid_token", error_description="');
const INSUFFICIENT = text('Bearer realm="api", error="insufficient_scope", scope="');
const UNAUTHORIZED = text("unauthorized");
const UNAUTHORIZED_TITLE = text("Unauthorized");
const MISSING = text("a bearer token is required");
const FORBIDDEN = text("forbidden");
const FORBIDDEN_TITLE = text("Forbidden");
const SCOPES = text("the token lacks a required scope");
const UNAVAILABLE = text("issuer-unavailable");
const UNAVAILABLE_TITLE = text("Service unavailable");
const CANNOT_ASK = text("the token issuer is unavailable, so the token cannot be validated");

/**
 * @example
 * const verifier = Token.open('{"jwks_url": {"$config": "/jwks_url"}}'); // in init
 * if (!Bearer.holds(verifier, Bearer.token())) return ANSWERED;
 */
export namespace Bearer {
  /** Returns the token behind `Bearer` in `Authorization`; null if the header is absent, or of another scheme. */
  export function token(): Text | null {
    const value = Request.header(AUTHORIZATION);
    if (!value || value.length <= SCHEME.length) return null;
    for (let i = 0; i < SCHEME.length; i++) if (lowerByte(value.byteAt(i)) != SCHEME.byteAt(i)) return null;
    return value.byteAt(SCHEME.length) == 0x20 ? value.slice(SCHEME.length).trim() : null;
  }

  /**
   * Reports whether the token is valid; if it is not, or is null or empty, the request is answered: return `ANSWERED`.
   */
  export function holds(verifier: i32, token: Text | null): bool {
    if (!token || token.isEmpty) {
      missing();
      return false;
    }
    const result = Token.verify(verifier, token);
    if (result == TOKEN_HOLDS) return true;
    if (result == TOKEN_REFUSED) {
      invalid(Token.refusal());
    } else {
      Response.setRetryAfter(1);
      Response.problem(503, UNAVAILABLE, UNAVAILABLE_TITLE, CANNOT_ASK);
    }
    return false;
  }

  /** Answers 401: the token is missing. */
  export function missing(): void {
    refuse(CHALLENGE, MISSING);
  }

  /** Answers 401: the token does not hold. `reason`: for the client, of printable ASCII without quotes. */
  export function invalid(reason: Text): void {
    refuse(new TextBuilder().add(INVALID).add(reason).byte(0x22).take(), reason);
  }

  /** Answers 403: the token holds, but not for this. `required`: the scopes, separated by spaces. */
  export function lacksScope(required: Text): void {
    Response.setHeader(WWW_AUTHENTICATE, new TextBuilder().add(INSUFFICIENT).add(required).byte(0x22).take());
    Response.problem(403, FORBIDDEN, FORBIDDEN_TITLE, SCOPES);
  }

  /** Replaces the client's token, for later plugins and the upstream. */
  export function replace(token: Text): void {
    Request.setHeader(AUTHORIZATION, new TextBuilder(token.length + BEARER.length).add(BEARER).add(token).take());
  }

  /** Removes the credentials from the request for the upstream. */
  export function strip(): void {
    Request.removeHeader(AUTHORIZATION);
  }

  function refuse(challenge: Text, detail: Text): void {
    Response.setHeader(WWW_AUTHENTICATE, challenge);
    Response.problem(401, UNAUTHORIZED, UNAUTHORIZED_TITLE, detail);
  }
}

/**
 * Whether every name in `required` is in `granted`; both separated by spaces.
 *
 * @example
 * if (!grants(scopesOfToken(), text("orders:read"))) {
 *   Bearer.lacksScope(text("orders:read"));
 *   return ANSWERED;
 * }
 */
export function grants(granted: Text, required: Text): bool {
  let start = 0;
  for (let i = 0; i <= required.length; i++) {
    if (i < required.length && required.byteAt(i) != 0x20) continue;
    if (i > start && !holdsName(granted, required.slice(start, i))) return false;
    start = i + 1;
  }
  return true;
}

function holdsName(names: Text, name: Text): bool {
  let start = 0;
  for (let i = 0; i <= names.length; i++) {
    if (i < names.length && names.byteAt(i) != 0x20) continue;
    if (names.slice(start, i).equals(name)) return true;
    start = i + 1;
  }
  return false;
}
