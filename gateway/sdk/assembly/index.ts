/** The plugin SDK: `import { Request, Response, text } from "@gw/plugin-sdk/assembly"`. */
export { Ai, AiAnswers, AiCache, AiCosts, AiPrompts, AiTemplates, AiTokens } from "./ai";
export { Bearer, grants } from "./bearer";
export { BasicChallenge, BasicCredentials } from "./basic-credentials";
export { decodeBase64, isUtf8 } from "./base64";
export { Condition, Match } from "./cel";
export { Cache } from "./cache";
export { Chunk } from "./chunk";
export { ClientCertificate } from "./client-certificate";
export { now } from "./clock";
export { Config } from "./config";
export { Context, State } from "./context";
export { cookieOf, Cookies, SetCookie } from "./cookies";
export { Credentials } from "./credentials";
export {
  CALL_CIRCUIT_OPEN, CALL_FAILED, CALL_NO_ROOM, CALL_REFUSED, CALL_TIMEOUT, CALL_TOO_LARGE, HttpCall, JSON_ABSENT, JSON_NO_ROOM, JSON_TOO_COSTLY,
} from "./http-call";
export { formatHttpDate, formatRfc3339, parseHttpDate, parseRfc3339 } from "./dates";
export { DIRECTORY_REJECTED, DIRECTORY_UNAVAILABLE, DIRECTORY_VERIFIED, Directory } from "./directory";
export { Examples } from "./examples";
export { addGroup, encodedName, groupsAt } from "./groups";
export { HmacKeys } from "./hmac-keys";
export { GraphQL } from "./graphql";
export { commaSeparated, Identity, namesAt, scopesOfToken } from "./identity";
export { Kafka } from "./kafka";
export { Log } from "./log";
export { Observation } from "./observation";
export { climbs, encoded, PathTemplate } from "./path-template";
export { ObjectStore, STORE_BAD_QUERY, STORE_NO_BUCKET, STORE_NO_KEY } from "./object-store";
export { PASSWORDS_BUSY, Passwords } from "./passwords";
export { formDecode, percentDecode, percentEncode } from "./percent";
export { Query } from "./query";
export { randomBytes, Uuid } from "./random";
export { RawRequest } from "./raw-request";
export { SHA_256, SHA_512 } from "./request";
export { Mirror } from "./mirror";
export { Nats } from "./nats";
export { Nonces } from "./nonces";
export { AckResponse, MessageHeaders, Publishing } from "./publishing";
export { RateLimit, RateLimitResult } from "./rate-limit";
export { Request } from "./request";
export { RequestValue } from "./request-value";
export { RequestLog } from "./request-log";
export { Response } from "./response";
export { HeaderChanges, QueryChanges } from "./changes";
export { Json, JSON_ARRAY, JSON_BOOLEAN, JSON_MOST_DEPTH, JSON_NULL, JSON_NUMBER, JSON_OBJECT, JSON_TEXT } from "./json";
export { isJson, JsonEdit } from "./json-edit";
export { HEADER_VALUE, JSON_STRING, PLAIN, TextTemplate } from "./text-template";
export { EMPTY, lowerByte, Text, text, TextBuilder } from "./text";
export { Signature } from "./signature";
export { Subscribing } from "./subscribing";
export { Token, TOKEN_HOLDS, TOKEN_REFUSED, TOKEN_UNAVAILABLE } from "./token";
export {
  EXCHANGE_DENIED, EXCHANGE_ISSUED, EXCHANGE_REFUSED, EXCHANGE_TIMEOUT, EXCHANGE_UNAVAILABLE, EXCHANGE_UNUSABLE, TokenExchange,
} from "./token-exchange";
export { Url } from "./url";
export { Upstream } from "./upstream";
export { UpstreamPath } from "./upstream-path";
export { Waf } from "./waf";
export { WebSocket } from "./web-socket";

/** `init`: the config is good. */
export const READY: i32 = 0;
/** `on_request`: go on with the chain; `on_response`: send it. */
export const CONTINUE: i32 = 0;
/** The hook has answered. */
export const ANSWERED: i32 = 1;
/** `dispatch` has handed the request off. */
export const HANDED_OFF: i32 = 2;
/** Chunk hooks: the chunk passes as it is. */
export const UNCHANGED: i32 = 0;
/** Chunk hooks: the written bytes take its place. */
export const REPLACED: i32 = 1;
