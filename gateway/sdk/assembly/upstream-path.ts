/** The config property `path` of dispatchers that proxy: which path and query an upstream gets. */
import { Config } from "./config";
import { climbs, PathTemplate } from "./path-template";
import { Request } from "./request";
import { Response } from "./response";
import { EMPTY, Text, text, TextBuilder } from "./text";

const AND: u8 = 0x26;
const MARK: u8 = 0x3f;

let template: PathTemplate | null = null;
let hasQuery = false;

/**
 * @example
 * UpstreamPath.configure(); // in init
 * const path = UpstreamPath.fill();
 * if (!path) return ANSWERED;
 */
export namespace UpstreamPath {
  /** In `init`: return its result; the config is refused if braces of `/path` do not pair. */
  export function configure(): i32 {
    if (!Config.has("/path")) return 0;
    const path = Config.get("/path");
    hasQuery = path.indexOf(MARK) >= 0;
    template = PathTemplate.parse(path);
    return template !== null ? 0 : Config.refuse("path: a parameter is written {name}, with both braces");
  }

  /**
   * In `dispatch`: returns path and query to send; empty if they are those of the request. Returns null if a value
   * would climb out of its place: answered with 400.
   */
  export function fill(): Text | null {
    const configured = template;
    if (!configured) return EMPTY;
    const path = configured.fill();
    if (climbs(path)) {
      const why = text("a path parameter would change the structure of the upstream's path");
      Response.problem(400, text("validation-failed"), text("Request validation failed"), why);
      return null;
    }
    const query = Request.query();
    if (!query) return path;
    return new TextBuilder(path.length + query.length + 1).add(path).byte(hasQuery ? AND : MARK).add(query).take();
  }
}
