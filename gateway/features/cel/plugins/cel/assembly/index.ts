import {
  ANSWERED, Condition, Config, Context, CONTINUE, EMPTY, Match, READY, Response, Text, TextBuilder, text,
} from "@gw/plugin-sdk/assembly";

const DENIED = text("denied");
const TITLE = text("Request denied");
const UNREADABLE = text("The request could not be checked");

let condition: i32 = 0;
/** Whether `on_match` has `deny`. If it has, a request whose evaluation failed is denied in the same way. */
let denies: bool = false;
let deniesFailures: bool = false;
/** A rule on a body that cannot be read decides nothing: the request passes only if the config says so. */
let deniesUnreadable: bool = true;
let status: i32 = 403;
let message: Text = EMPTY;
let members: Text = EMPTY;
let keys: StaticArray<Text> = new StaticArray<Text>(0);
let values: StaticArray<Text> = new StaticArray<Text>(0);

export function init(): i32 {
  condition = Condition.compile(Config.get("/expression"));
  if (condition < 0) return 1;
  const onError = Config.get("/on_error");
  deniesFailures = onError.equals(text("deny"));
  deniesUnreadable = !onError.equals(text("continue"));
  denies = Config.has("/on_match/deny");
  // Without `deny`, a request whose evaluation failed may still be denied: then with 403.
  status = denies ? <i32>Config.number("/on_match/deny/status") : 403;
  message = denies ? Config.get("/on_match/deny/message") : UNREADABLE;
  const code = denies ? Config.get("/on_match/deny/code") : text("denied");
  members = new TextBuilder().add(text('{"code":"')).json(code).add(text('"}')).take();
  const count = Config.count("/on_match/set_context");
  keys = new StaticArray<Text>(count);
  values = new StaticArray<Text>(count);
  for (let i = 0; i < count; i++) {
    const key = Config.key("/on_match/set_context", i);
    if (!key) return Config.refuse("set_context has no key " + i.toString());
    keys[i] = key;
    values[i] = Config.get("/on_match/set_context/" + pointerToken(key.toString()));
  }
  return READY;
}

/** RFC 6901, section 3. */
function pointerToken(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function on_request(): i32 {
  const match = Condition.evaluate(condition);
  if (match == Match.No) return CONTINUE;
  if (match == Match.Failed) return deniesFailures ? deny() : CONTINUE;
  if (match == Match.Unreadable) return deniesUnreadable ? deny() : CONTINUE;
  if (denies) return deny();
  for (let i = 0; i < keys.length; i++) Context.set(keys[i], values[i]);
  return CONTINUE;
}

function deny(): i32 {
  Response.problem(status, DENIED, TITLE, message, members);
  return ANSWERED;
}
