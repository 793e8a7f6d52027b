import { ANSWERED, Config, CONTINUE, EMPTY, READY, Request, Response, Text, text } from "@gw/plugin-sdk/assembly";
import { Names } from "./names";

const CONSUMER = text("x-auth-consumer");
const GROUPS = text("x-auth-consumer-groups");
const WWW_AUTHENTICATE = text("www-authenticate");
const UNAUTHORIZED = text("unauthorized");
const UNAUTHORIZED_TITLE = text("Unauthorized");
const NOBODY = text("authentication is required");
const FORBIDDEN = text("forbidden");
const FORBIDDEN_TITLE = text("Forbidden");

let allowConsumers: Names = Names.none();
let denyConsumers: Names = Names.none();
let allowGroups: Names = Names.none();
let denyGroups: Names = Names.none();
/** Nothing is named: every consumer passes. */
let allowsAll = true;
let message: Text = EMPTY;
let challenge: Text = EMPTY;

export function init(): i32 {
  allowConsumers = Names.read("/allow_consumers", false);
  denyConsumers = Names.read("/deny_consumers", false);
  allowGroups = Names.read("/allow_groups", true);
  denyGroups = Names.read("/deny_groups", true);
  allowsAll = allowConsumers.isEmpty && allowGroups.isEmpty;
  message = Config.get("/message");
  challenge = Config.get("/challenge");
  return READY;
}

export function on_request(): i32 {
  const consumer = Request.header(CONSUMER);
  if (!consumer || consumer.isEmpty) {
    Response.setHeader(WWW_AUTHENTICATE, challenge);
    Response.problem(401, UNAUTHORIZED, UNAUTHORIZED_TITLE, NOBODY);
    return ANSWERED;
  }
  const listed = Request.header(GROUPS);
  const groups = listed ? listed : EMPTY;
  if (!denyConsumers.has(consumer) && !denyGroups.hasAny(groups)) {
    if (allowsAll || allowConsumers.has(consumer) || allowGroups.hasAny(groups)) return CONTINUE;
  }
  Response.problem(403, FORBIDDEN, FORBIDDEN_TITLE, message);
  return ANSWERED;
}
