import { ANSWERED, BasicCredentials, Config, CONTINUE, EMPTY, groupsAt, Identity, PASSWORDS_BUSY, Passwords, READY, Request, Response, Text, text, TextBuilder } from "@gw/plugin-sdk/assembly";

const CREDENTIALS = text("/credentials");
const USERNAME = text("/username");
const ROLES = text("/roles");
const USER_HEADER = text("x-auth-user");
const ROLES_HEADER = text("x-auth-roles");
const AUTHORIZATION = text("authorization");
const WWW_AUTHENTICATE = text("www-authenticate");
const FAILED = text("authentication-failed");
const FAILED_TITLE = text("Authentication failed");
const FAILED_DETAIL = text("Invalid username or password");
const OVERLOADED = text("overloaded");
const OVERLOADED_TITLE = text("Service unavailable");
const OVERLOADED_DETAIL = text("too many passwords wait to be verified");
const RETRY_AFTER = text("retry-after");
const ONE_SECOND = text("1");

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
let challenge: Text = EMPTY;
let strips = true;

export function init(): i32 {
  strips = Config.flag("/strip_credentials");
  const realm = Config.get("/realm", "api");
  const out = new TextBuilder().add(text('Basic realm="'));
  for (let i = 0; i < realm.length; i++) {
    const byte = realm.byteAt(i);
    if (byte == 0x22 || byte == 0x5c) out.byte(0x5c);
    out.byte(byte);
  }
  challenge = out.byte(0x22).take();
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
  Identity.set(ROLES_HEADER, user.roles.isEmpty ? null : user.roles);
  if (strips) Request.removeHeader(AUTHORIZATION);
  return CONTINUE;
}

/** Says the same of a name that nobody has, a wrong password, and credentials that are missing or malformed. */
function refuse(): i32 {
  Response.setHeader(WWW_AUTHENTICATE, challenge);
  Response.problem(401, FAILED, FAILED_TITLE, FAILED_DETAIL);
  return ANSWERED;
}

function busy(): i32 {
  Response.setHeader(RETRY_AFTER, ONE_SECOND);
  Response.problem(503, OVERLOADED, OVERLOADED_TITLE, OVERLOADED_DETAIL);
  return ANSWERED;
}

function readUser(index: i32): User {
  const entry = new TextBuilder(64).add(CREDENTIALS).byte(0x2f).integer(index).take();
  const name = Config.at(new TextBuilder(64).add(entry).add(USERNAME).take());
  return new User(name ? name : EMPTY, groupsAt(new TextBuilder(64).add(entry).add(ROLES).take()));
}
