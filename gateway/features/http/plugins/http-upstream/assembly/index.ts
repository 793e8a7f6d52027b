import { ANSWERED, Config, HANDED_OFF, text, Upstream, UpstreamPath } from "@gw/plugin-sdk/assembly";

const URL = text("/url");
const NAME = text("/upstream");

let upstream = URL;
let timeoutMs: i32 = 30_000;

export function init(): i32 {
  if (Config.has("/upstream")) upstream = NAME;
  timeoutMs = <i32>max(1.0, Config.number("/timeout") * 1000);
  return UpstreamPath.configure();
}

export function dispatch(): i32 {
  const path = UpstreamPath.fill();
  if (!path) return ANSWERED;
  Upstream.stream(upstream, path, timeoutMs);
  return HANDED_OFF;
}
