import { addGroup, ANSWERED, BasicChallenge, BasicCredentials, Config, CONTINUE, Directory, DIRECTORY_REJECTED, DIRECTORY_UNAVAILABLE, Identity, Log, READY, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const GROUPS = text("x-auth-consumer-groups");
const USER = text("x-auth-user");
const DN = text("x-auth-dn");
const UNAVAILABLE = text("ldap-unavailable");
const UNAVAILABLE_TITLE = text("Service unavailable");
const UNAVAILABLE_DETAIL = text("the directory is unavailable");
const FORBIDDEN = text("forbidden");
const FORBIDDEN_TITLE = text("Forbidden");
const FORBIDDEN_DETAIL = text("the user is in none of the required groups");
const TOO_MANY = text("too_many_groups: the groups of a user are too long for a header: narrow them by group_base_dn and group_filter");
const REQUIRED = text("/required_groups/");

/** Bytes of groups that go into a header. */
const MOST_GROUPS: i32 = 16 << 10;

let challenge: BasicChallenge | null = null;
let strips = true;
let required: StaticArray<Text> = new StaticArray<Text>(0);

export function init(): i32 {
  Directory.open();
  challenge = new BasicChallenge();
  strips = Config.flag("/strip_credentials");
  required = new StaticArray<Text>(Config.count("/required_groups"));
  for (let i = 0; i < required.length; i++) {
    required[i] = Config.at(new TextBuilder(64).add(REQUIRED).integer(i).take())!;
  }
  return READY;
}

export function on_request(): i32 {
  const given = BasicCredentials.ofRequest();
  if (!given || given.username.isEmpty || given.password.isEmpty) return refuse();
  const verdict = Directory.verify(given.username, given.password);
  if (verdict == DIRECTORY_UNAVAILABLE) return unavailable();
  if (verdict == DIRECTORY_REJECTED) return refuse();

  const groups = new TextBuilder();
  let admitted = required.length == 0;
  for (let i = 0; i < Directory.groupCount(); i++) {
    const group = Directory.group(i);
    if (!admitted) admitted = isRequired(group);
    addGroup(groups, group);
    if (groups.length > MOST_GROUPS) {
      // Groups left out could be those that a later plugin refuses.
      Log.error(TOO_MANY);
      return unavailable();
    }
  }
  if (!admitted) {
    Response.problem(403, FORBIDDEN, FORBIDDEN_TITLE, FORBIDDEN_DETAIL);
    return ANSWERED;
  }
  Identity.consumer(Directory.consumer());
  Identity.list(GROUPS, groups.take());
  Identity.set(USER, given.username);
  Identity.set(DN, Directory.dn());
  if (strips) BasicCredentials.strip();
  return CONTINUE;
}

function isRequired(group: Text): bool {
  for (let i = 0; i < required.length; i++) if (required[i].equals(group)) return true;
  return false;
}

function refuse(): i32 {
  challenge!.refuse();
  return ANSWERED;
}

function unavailable(): i32 {
  Response.setRetryAfter(1);
  Response.problem(503, UNAVAILABLE, UNAVAILABLE_TITLE, UNAVAILABLE_DETAIL);
  return ANSWERED;
}
