import { ANSWERED, Config, EMPTY, Examples, isJson, JSON_STRING, PLAIN, READY, Request, Response, Text, text, TextTemplate } from "@gw/plugin-sdk/assembly";
import { Demand } from "./credentials";

@unmanaged
class Header {
  constructor(
    public name: Text,
    public value: Text,
    public next: Header | null,
  ) {}
}

let status: i32 = 200;
let body: TextTemplate = new TextTemplate();
/** How what is filled in is written. */
let form: i32 = PLAIN;
let headers: Header | null = null;
let contentType: Text = EMPTY;
/** No body is given: the API description says what to answer with. */
let described = false;
let demand: Demand | null = null;

const CONTENT_TYPE = text("content-type");
const PREFER = text("prefer");

export function init(): i32 {
  status = <i32>Config.number("/status");
  described = !Config.has("/body");
  contentType = Config.get("/content_type");
  form = isJson(contentType) ? JSON_STRING : PLAIN;
  const count = Config.count("/headers");
  for (let i = count - 1; i >= 0; i--) {
    const name = Config.key("/headers", i);
    if (!name) continue;
    const value = Config.get("/headers/" + name.toString().replaceAll("~", "~0").replaceAll("/", "~1"));
    headers = new Header(name, value, headers);
  }
  demand = Demand.read();
  if (!described) body = TextTemplate.parse(Config.get("/body"), false);
  return READY;
}

export function dispatch(): i32 {
  const wanted = demand;
  if (wanted && !wanted.isMet()) {
    // A preference of the client does not get around the check.
    Request.removeHeader(PREFER);
    wanted.answer(Examples.respond(401));
    return ANSWERED;
  }
  const answered = described && Examples.respond(status);
  // A content type among the headers is set after this one, and wins.
  if (!described && !contentType.isEmpty) Response.setHeader(CONTENT_TYPE, contentType);
  let header = headers;
  while (header !== null) {
    Response.setHeader(header.name, header.value);
    header = header.next;
  }
  if (!answered) Response.send(status, body.render(form));
  return ANSWERED;
}
