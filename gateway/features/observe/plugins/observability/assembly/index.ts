import { CONTINUE, Observation, READY } from "@gw/plugin-sdk/assembly";

export function init(): i32 {
  Observation.open();
  return READY;
}

export function on_request(): i32 {
  Observation.add();
  return CONTINUE;
}
