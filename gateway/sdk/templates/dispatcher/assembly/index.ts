import { ANSWERED, Config, READY, Request, Response, TextBuilder, text } from "@gw/plugin-sdk/assembly";

// Literals are encoded once: each call finds in memory what init has left, and nothing of another call.
const CONTENT_TYPE = text("content-type");
const JSON = text("application/json");
const METHOD = text('{"method":"');
const PATH = text('","path":"');
const BODY = text('","body":"');
const END = text('"}');
let status: i32 = 200;

/** Runs once for each config. */
export function init(): i32 {
  status = <i32>Config.number("/status", 200);
  return READY;
}

/** Runs for each request that the middlewares let pass. */
export function dispatch(): i32 {
  const answer = new TextBuilder().add(METHOD).json(Request.method());
  answer.add(PATH).json(Request.path()).add(BODY).json(Request.body()).add(END);
  Response.setHeader(CONTENT_TYPE, JSON);
  Response.send(status, answer.take());
  return ANSWERED;
}
