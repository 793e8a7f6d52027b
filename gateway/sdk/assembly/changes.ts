/**
 * Changes of headers or query parameters as a config has them: `remove` (names), `rename` (`from`, `to`), `set` and
 * `add` (name to text with placeholders), made in this order. Changes with a placeholder for a missing value are
 * skipped.
 */
import { Config } from "./config";
import { Request } from "./request";
import { Response } from "./response";
import { Text } from "./text";
import { HEADER_VALUE, PLAIN, TextTemplate } from "./text-template";

const REMOVE = 0;
const RENAME = 1;
const SET = 2;
const ADD = 3;

@unmanaged
class Change {
  /** `name` is the old name of a renaming, `to` its new one; `value` is null but for `SET` and `ADD`. */
  constructor(
    public kind: i32,
    public name: Text,
    public to: Text,
    public value: TextTemplate | null,
    public next: Change | null,
  ) {}
}

/** Returns the changes in the config at a pointer, first to last; null if it has none. */
function readChanges(pointer: string): Change | null {
  // From the last on, each before the previous ones.
  let changes = readValues(ADD, pointer + "/add", null);
  changes = readValues(SET, pointer + "/set", changes);
  for (let i = Config.count(pointer + "/rename") - 1; i >= 0; i--) {
    const entry = pointer + "/rename/" + i.toString();
    changes = new Change(RENAME, Config.get(entry + "/from"), Config.get(entry + "/to"), null, changes);
  }
  const removed = Config.list(pointer + "/remove");
  for (let i = removed.length - 1; i >= 0; i--) changes = new Change(REMOVE, removed[i], removed[i], null, changes);
  return changes;
}

function readValues(kind: i32, pointer: string, behind: Change | null): Change | null {
  let changes = behind;
  for (let i = Config.count(pointer) - 1; i >= 0; i--) {
    const name = Config.key(pointer, i);
    if (!name) continue;
    const value = Config.get(pointer + "/" + name.toString().replaceAll("~", "~0").replaceAll("/", "~1"));
    changes = new Change(kind, name, name, TextTemplate.parse(value, true), changes);
  }
  return changes;
}

/** Returns null if the request lacks a value of its template. */
function valueOf(change: Change, form: i32): Text | null {
  const template = change.value;
  return template ? template.resolve(form) : null;
}

/**
 * Changes of headers.
 *
 * @example
 * const changes = HeaderChanges.read("/headers"); // in init
 * changes.applyToRequest();
 */
@unmanaged
export class HeaderChanges {
  private constructor(private first: Change | null) {}

  /** No changes. */
  static none(): HeaderChanges {
    return new HeaderChanges(null);
  }

  /** Reads the changes that the config has at a JSON pointer. */
  static read(pointer: string): HeaderChanges {
    return new HeaderChanges(readChanges(pointer));
  }

  /** Changes the headers of the request, for later plugins and the upstream. */
  applyToRequest(): void {
    let change = this.first;
    while (change !== null) {
      if (change.kind == REMOVE) Request.removeHeader(change.name);
      else if (change.kind == RENAME) {
        const value = Request.header(change.name);
        if (value) {
          Request.removeHeader(change.name);
          Request.setHeader(change.to, value);
        }
      } else {
        const value = valueOf(change, HEADER_VALUE);
        if (value && change.kind == SET) Request.setHeader(change.name, value);
        else if (value) Request.addHeader(change.name, value);
      }
      change = change.next;
    }
  }

  /** In `on_response`. */
  applyToResponse(): void {
    let change = this.first;
    while (change !== null) {
      if (change.kind == REMOVE) Response.removeHeader(change.name);
      else if (change.kind == RENAME) {
        const value = Response.header(change.name);
        if (value) {
          Response.removeHeader(change.name);
          Response.setHeader(change.to, value);
        }
      } else {
        const value = valueOf(change, HEADER_VALUE);
        if (value && change.kind == SET) Response.setHeader(change.name, value);
        else if (value) Response.addHeader(change.name, value);
      }
      change = change.next;
    }
  }
}

/**
 * Changes of query parameters.
 *
 * @example
 * const changes = QueryChanges.read("/query"); // in init
 * changes.apply();
 */
@unmanaged
export class QueryChanges {
  private constructor(private first: Change | null) {}
/** No changes. */

  /** No changes. */
  static none(): QueryChanges {
    return new QueryChanges(null);
  }
/** Reads the changes that the config has at a JSON pointer. */

  /** Reads the changes that the config has at a JSON pointer. */
  static read(pointer: string): QueryChanges {
    return new QueryChanges(readChanges(pointer));
  }

  /** Changes the query of the request, for later plugins and the upstream. */
  apply(): void {
    let change = this.first;
    while (change !== null) {
      if (change.kind == REMOVE) Request.removeQueryParam(change.name);
      else if (change.kind == RENAME) {
        const value = Request.queryParam(change.name);
        if (value) {
          Request.removeQueryParam(change.name);
          Request.setQueryParam(change.to, value);
        }
      } else {
        const value = valueOf(change, PLAIN);
        if (value && change.kind == SET) Request.setQueryParam(change.name, value);
        else if (value) Request.addQueryParam(change.name, value);
      }
      change = change.next;
    }
  }
}
