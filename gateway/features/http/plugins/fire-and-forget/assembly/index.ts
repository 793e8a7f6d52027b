import { Config, CONTINUE, EMPTY, Mirror, PathTemplate, randomBytes, READY } from "@gw/plugin-sdk/assembly";

/** Of 2³² requests, those that are copied. */
let sampled: u64 = 0;
const ALL: u64 = 0x1_0000_0000;
let template: PathTemplate | null = null;

export function init(): i32 {
  sampled = <u64>(Config.number("/sample") / 100 * <f64>ALL);
  if (Config.has("/path")) {
    template = PathTemplate.parse(Config.get("/path"));
    if (!template) return Config.refuse("path: a parameter is written {name}, with both braces");
  }
  Mirror.open();
  return READY;
}

export function on_request(): i32 {
  if (!isSampled()) return CONTINUE;
  const configured = template;
  Mirror.add(configured ? configured.fill() : EMPTY);
  return CONTINUE;
}

function isSampled(): bool {
  if (sampled >= ALL) return true;
  if (sampled == 0) return false;
  const random = heap.alloc(4);
  randomBytes(random, 4);
  return <u64>load<u32>(random) < sampled;
}
