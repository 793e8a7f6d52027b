/** Text with placeholders of the request: `{{request.method}}`, `{{headers.<name>}}`, `{{path_params.<name>}}` … */
import { Context } from "./context";
import { Request } from "./request";
import { EMPTY, Text, text, TextBuilder } from "./text";

/** Form of filled-in values: unchanged. */
export const PLAIN: i32 = 0;
/** As between the quotes of a JSON string. */
export const JSON_STRING: i32 = 1;
/**
 * As a header's value: other characters than printable ASCII are percent-encoded, so that a value cannot end the
 * header.
 */
export const HEADER_VALUE: i32 = 2;

const LITERAL = 0;
const METHOD = 1;
const PATH = 2;
const QUERY = 3;
const CLIENT_IP = 4;
const HEADER = 5;
const PATH_PARAM = 6;
const CONTEXT = 7;

@unmanaged
class Part {
  /** `written` is the part as it stands in the template; `name` the header's, parameter's or context key's. */
  constructor(
    public kind: i32,
    public written: Text,
    public name: Text,
    public next: Part | null,
  ) {}
}

/**
 * Text with placeholders.
 *
 * @example
 * const template = TextTemplate.parse(text("{{request.method}} {{headers.x-name}}"), true); // in init
 * const line = template.render(PLAIN);
 */
@unmanaged
export class TextTemplate {
  private first: Part | null;
  private last: Part | null;
  private placeholders: i32;

  /** @internal */
  constructor() {
    this.first = null;
    this.last = null;
    this.placeholders = 0;
  }

  /** Malformed placeholders stay text. `withContext`: `{{context.<key>}}` is a placeholder. */
  static parse(source: Text, withContext: bool): TextTemplate {
    const template = new TextTemplate();
    let from = 0;
    let at = 0;
    while (at + 1 < source.length) {
      if (source.byteAt(at) != 0x7b || source.byteAt(at + 1) != 0x7b) {
        at++;
        continue;
      }
      const end = closing(source, at + 2);
      if (end < 0) break;
      const part = placeholder(source.slice(at + 2, end).trim(), source.slice(at, end + 2), withContext);
      if (!part) {
        at++;
        continue;
      }
      if (at > from) template.append(new Part(LITERAL, source.slice(from, at), EMPTY, null));
      template.append(part);
      template.placeholders++;
      at = end + 2;
      from = at;
    }
    if (from < source.length) template.append(new Part(LITERAL, source.slice(from), EMPTY, null));
    return template;
  }

  private append(part: Part): void {
    const before = this.last;
    if (before) before.next = part;
    else this.first = part;
    this.last = part;
  }

  /** Fills in the request's values; a placeholder without a value stays as it is written. */
  render(form: i32): Text {
    const filled = this.fill(form, false);
    return filled ? filled : EMPTY;
  }

  /** Fills in the request's values; returns null if the request lacks one of them. */
  resolve(form: i32): Text | null {
    return this.fill(form, true);
  }

  private fill(form: i32, strict: bool): Text | null {
    const only = this.first;
    if (!only) return EMPTY;
    // Without placeholders there is one part.
    if (this.placeholders == 0) return only.written;
    const out = new TextBuilder(512);
    let part = this.first;
    while (part !== null) {
      const value = valueOf(part);
      if (value) fillIn(out, value, form);
      else if (strict && part.kind != LITERAL) return null;
      else out.add(part.written);
      part = part.next;
    }
    return out.take();
  }
}

function fillIn(out: TextBuilder, value: Text, form: i32): void {
  if (form == JSON_STRING) out.json(value);
  else if (form == PLAIN) out.add(value);
  else {
    for (let i = 0; i < value.length; i++) {
      const byte = value.byteAt(i);
      if (byte >= 0x20 && byte <= 0x7e) out.byte(byte);
      else out.percent(byte);
    }
  }
}

function closing(source: Text, from: i32): i32 {
  for (let i = from; i + 1 < source.length; i++) {
    if (source.byteAt(i) == 0x7d && source.byteAt(i + 1) == 0x7d) return i;
  }
  return -1;
}

function placeholder(name: Text, written: Text, withContext: bool): Part | null {
  if (name.equals(text("request.method"))) return new Part(METHOD, written, EMPTY, null);
  if (name.equals(text("request.path"))) return new Part(PATH, written, EMPTY, null);
  if (name.equals(text("request.query"))) return new Part(QUERY, written, EMPTY, null);
  if (name.equals(text("request.client_ip"))) return new Part(CLIENT_IP, written, EMPTY, null);
  if (name.startsWith(text("headers."))) return new Part(HEADER, written, name.slice(8), null);
  if (name.startsWith(text("path_params."))) return new Part(PATH_PARAM, written, name.slice(12), null);
  if (withContext && name.startsWith(text("context."))) return new Part(CONTEXT, written, name.slice(8), null);
  return null;
}

function valueOf(part: Part): Text | null {
  switch (part.kind) {
    case METHOD:
      return Request.method();
    case PATH:
      return Request.path();
    case QUERY:
      return Request.query();
    case CLIENT_IP:
      return Request.clientIp();
    case HEADER:
      return Request.header(part.name);
    case PATH_PARAM:
      return Request.pathParam(part.name);
    case CONTEXT:
      return Context.get(part.name);
    default:
      return null;
  }
}
