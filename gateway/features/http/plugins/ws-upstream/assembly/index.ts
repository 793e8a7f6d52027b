import { ANSWERED, Config, text, UpstreamPath, WebSocket } from "@gw/plugin-sdk/assembly";

const URL = text("/url");

let connectTimeoutMs: i32 = 0;
let idleTimeoutMs: i32 = 0;
let maxMessageBytes: i32 = 0;

export function init(): i32 {
  connectTimeoutMs = <i32>(Config.number("/connect_timeout") * 1000);
  // The least above none that a timer knows.
  const idle = Config.number("/idle_timeout") * 1000;
  idleTimeoutMs = idle > 0 ? <i32>max(1.0, idle) : 0;
  maxMessageBytes = <i32>Config.number("/max_message_size");
  return UpstreamPath.configure();
}

export function dispatch(): i32 {
  const path = UpstreamPath.fill();
  if (!path) return ANSWERED;
  return WebSocket.upgrade(URL, path, connectTimeoutMs, idleTimeoutMs, maxMessageBytes);
}
