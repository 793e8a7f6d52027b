import { CONTINUE, READY, RequestLog } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  RequestLog.open();
  return READY;
}

export function on_request(): i32 {
  RequestLog.add();
  return CONTINUE;
}
