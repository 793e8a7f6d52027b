import { ANSWERED, BasicChallenge, BasicCredentials, Config, CONTINUE, EMPTY, groupsAt, Identity, PASSWORDS_BUSY, Passwords, READY, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CREDENTIALS = text("/credentials");
const USERNAME = text("/username");
const ROLES = text("/roles");
const USER_HEADER = text("x-auth-user");
const ROLES_HEADER = text("x-auth-roles");
const OVERLOADED = text("overloaded");
const OVERLOADED_TITLE = text("Service unavailable");
const OVERLOADED_DETAIL = text("too many passwords are waiting to be verified");

/** The roles of as many users are kept ready in memory; those of larger tables are read when their user comes. */
const READY_USERS = 64;

@unmanaged
class User {
  constructor(
    public name: Text,
    public roles: Text,
  ) {}
}

let users: StaticArray<User> = new StaticArray<User>(0);
let challenge: BasicChallenge | null = null;
let strips = true;

export function init(): i32 {
  strips = Config.flag("/strip_credentials");
  challenge = new BasicChallenge();
  users = new StaticArray<User>(min(Config.count("/credentials"), READY_USERS));
  for (let i = 0; i < users.length; i++) users[i] = readUser(i);
  return READY;
}

export function on_request(): i32 {
  const given = BasicCredentials.ofRequest();
  if (!given) return refuse();
  const index = Passwords.verify(CREDENTIALS, given.username, given.password);
  if (index == PASSWORDS_BUSY) return busy();
  if (index < 0) return refuse();

  const user = index < users.length ? users[index] : readUser(index);
  Identity.consumer(user.name);
  Identity.groups(user.roles);
  Identity.set(USER_HEADER, user.name);
  Identity.list(ROLES_HEADER, user.roles);
  if (strips) BasicCredentials.strip();
  return CONTINUE;
}

function refuse(): i32 {
  challenge!.refuse();
  return ANSWERED;
}

function busy(): i32 {
  Response.setRetryAfter(1);
  Response.problem(503, OVERLOADED, OVERLOADED_TITLE, OVERLOADED_DETAIL);
  return ANSWERED;
}

function readUser(index: i32): User {
  const entry = new TextBuilder(64).add(CREDENTIALS).byte(0x2f).integer(index).take();
  const name = Config.at(new TextBuilder(64).add(entry).add(USERNAME).take());
  return new User(name ? name : EMPTY, groupsAt(new TextBuilder(64).add(entry).add(ROLES).take()));
}
