import {
  ANSWERED, CONTINUE, GraphQL, READY, Request, Response, Text, text, TextBuilder,
} from "@gw/plugin-sdk/assembly";

const ACCEPT = text("accept");
const ALLOW = text("allow");
const CONTENT_TYPE = text("content-type");
const GRAPHQL_RESPONSE = text("application/graphql-response+json");
const GET = text("GET");
const POST = text("POST");
const BOTH = text("GET, POST");

const INVALID = text("validation-failed");
const INVALID_TITLE = text("Request validation failed");
const METHOD = text("method-not-allowed");
const METHOD_TITLE = text("Method not allowed");
const TOO_LARGE = text("payload-too-large");
const TOO_LARGE_TITLE = text("Payload Too Large");
const MEDIA_TYPE = text("unsupported-media-type");
const MEDIA_TYPE_TITLE = text("Unsupported media type");

export function init(): i32 {
  GraphQL.open();
  return READY;
}

export function on_request(): i32 {
  const status = GraphQL.check();
  if (status == GraphQL.PASSES) return CONTINUE;
  if (status == 405) Response.setHeader(ALLOW, Request.method().equals(GET) ? POST : BOTH);
  const code = GraphQL.code();
  const detail = GraphQL.refusal();
  if (acceptsGraphQL()) {
    Response.setHeader(CONTENT_TYPE, GRAPHQL_RESPONSE);
    Response.send(status, new TextBuilder(512).add(text("{")).add(errors(code, detail)).add(text("}")).take());
    return ANSWERED;
  }
  const members = new TextBuilder(512).add(text('{"code":"')).json(code).add(text('",')).add(errors(code, detail));
  refuse(status, detail, members.add(text("}")).take());
  return ANSWERED;
}

/** Whether the client accepts a GraphQL error response instead of a problem document (GraphQL over HTTP, section 6.4). */
function acceptsGraphQL(): bool {
  const accept = Request.header(ACCEPT);
  if (!accept) return false;
  const types = accept.lower();
  for (let from = types.indexOf(0x61); from >= 0; from = types.indexOf(0x61, from + 1)) {
    if (types.slice(from).startsWith(GRAPHQL_RESPONSE)) return true;
  }
  return false;
}

/** As clients of GraphQL read them, in either document. */
function errors(code: Text, detail: Text): Text {
  const list = new TextBuilder(512).add(text('"errors":[{"message":"')).json(detail);
  return list.add(text('","extensions":{"code":"')).json(code).add(text('"}}]')).take();
}

function refuse(status: i32, detail: Text, members: Text): void {
  if (status == 405) Response.problem(405, METHOD, METHOD_TITLE, detail, members);
  else if (status == 413) Response.problem(413, TOO_LARGE, TOO_LARGE_TITLE, detail, members);
  else if (status == 415) Response.problem(415, MEDIA_TYPE, MEDIA_TYPE_TITLE, detail, members);
  else Response.problem(400, INVALID, INVALID_TITLE, detail, members);
}
