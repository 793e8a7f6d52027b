import { ANSWERED, climbs, Config, EMPTY, HANDED_OFF, PathTemplate, READY, Request, Response, Text, text, TextBuilder, Upstream } from "@gw/plugin-sdk/assembly";

const URL = text("/url");
const VALIDATION_FAILED = text("validation-failed");
const VALIDATION_TITLE = text("Request validation failed");
const NOT_A_SEGMENT = text("a path parameter would leave its place in the upstream's path");

let timeoutMs: i32 = 30_000;
let template: PathTemplate | null = null;
let hasQuery = false;

export function init(): i32 {
  timeoutMs = <i32>max(1.0, Config.number("/timeout") * 1000);
  if (!Config.has("/path")) return READY;
  const path = Config.get("/path");
  hasQuery = path.indexOf(0x3f) >= 0;
  template = PathTemplate.parse(path);
  return template !== null ? READY : Config.refuse("path: a parameter is written {name}, with both braces");
}

export function dispatch(): i32 {
  const upstreamPath = template;
  let path = EMPTY;
  if (upstreamPath) {
    const filled = fill(upstreamPath);
    if (!filled) {
      Response.problem(400, VALIDATION_FAILED, VALIDATION_TITLE, NOT_A_SEGMENT);
      return ANSWERED;
    }
    path = filled;
  }
  Upstream.stream(URL, path, timeoutMs);
  return HANDED_OFF;
}

/** The path and query to send; null where a value would climb out of its place. */
function fill(template: PathTemplate): Text | null {
  const path = template.fill();
  if (climbs(path)) return null;
  const query = Request.query();
  if (!query) return path;
  return new TextBuilder(path.length + query.length + 1).add(path).byte(hasQuery ? 0x26 : 0x3f).add(query).take();
}
