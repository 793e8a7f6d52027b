import {
  ANSWERED, Config, CONTINUE, EMPTY, Log, READY, Request, Response, Text, TextBuilder, text,
} from "@gw/plugin-sdk/assembly";

// Literals are encoded once: each call finds in memory what init has left, and nothing of another call.
const NAME = text("x-name");
const GREETING = text("x-greeting");
const FORBIDDEN = text("forbidden");
const TITLE = text("Forbidden");
const NO_NAME = text("say your name in the header x-name");
let greeting: Text = EMPTY;

/** Runs once for each config. */
export function init(): i32 {
  greeting = Config.get("/greeting");
  return READY;
}

/** Runs for each request, before the dispatcher. */
export function on_request(): i32 {
  const name = Request.header(NAME);
  if (!name || name.isEmpty) {
    Log.info(NO_NAME);
    Response.problem(403, FORBIDDEN, TITLE, NO_NAME);
    return ANSWERED;
  }
  // Staged for whatever the answer will be.
  Response.setHeader(GREETING, new TextBuilder().add(greeting).byte(0x20).add(name).take());
  return CONTINUE;
}
