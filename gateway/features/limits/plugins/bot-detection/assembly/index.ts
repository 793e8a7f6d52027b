import { ANSWERED, Config, CONTINUE, EMPTY, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";
import { Fragments } from "./fragments";

const USER_AGENT = text("user-agent");
const TYPE = text("bot-detected");
const TITLE = text("Forbidden");
const MEMBERS_START = text('{"user_agent":"');
const MEMBERS_END = text('"}');

let deny: Fragments = Fragments.none();
let allow: Fragments = Fragments.none();
let blockEmpty = false;
let message: Text = EMPTY;
let status: i32 = 403;

export function init(): i32 {
  deny = Fragments.read("/deny");
  allow = Fragments.read("/allow");
  blockEmpty = Config.flag("/block_empty_ua");
  message = Config.get("/message");
  status = <i32>Config.number("/status");
  return READY;
}

export function on_request(): i32 {
  if (!blockEmpty && deny.isEmpty) return CONTINUE;
  const agent = Request.header(USER_AGENT);
  if (!agent || agent.trim().isEmpty) return blockEmpty ? refuse(EMPTY) : CONTINUE;
  const name = agent.lower();
  return deny.anyIn(name) && !allow.anyIn(name) ? refuse(agent) : CONTINUE;
}

function refuse(agent: Text): i32 {
  let members = EMPTY;
  if (!agent.isEmpty) members = new TextBuilder(512).add(MEMBERS_START).json(agent).add(MEMBERS_END).take();
  Response.problem(status, TYPE, TITLE, message, members);
  return ANSWERED;
}
