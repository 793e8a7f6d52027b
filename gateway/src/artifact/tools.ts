/** `mcp.json` of an artifact: the tools that its operations are (docs/decisions.md#tools-in-the-artifact). */
import type { Json, JsonObject } from '../spec/json.ts';

/** The archive's entry, present if MCP is enabled. */
export const TOOLS_PATH = 'mcp.json';

/** Hints to clients about a tool's effects, as MCP names them; absent ones have MCP's default. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** An argument that is a parameter of the operation. */
export interface ToolParameter {
  /** Name of the argument. */
  readonly argument: string;
  /** Its place in `parameters` of the operation. */
  readonly parameter: number;
}

/** How arguments become the body of the request. */
export type ToolBodyEncoding = 'json' | 'form' | 'multipart' | 'text' | 'base64';

export interface ToolBody {
  readonly content_type: string;
  readonly encoding: ToolBodyEncoding;
  readonly required: boolean;
  /** The argument that is the whole body; absent if its properties are arguments themselves. */
  readonly argument?: string;
  /** Properties of the body that are arguments of the same name. */
  readonly properties?: readonly string[];
  /** Other arguments are properties of the body. */
  readonly open?: boolean;
  /** Properties of a form that hold base64 of bytes. */
  readonly binary?: readonly string[];
}

/** The value of an argument that a call leaves out. */
export interface ToolDefault {
  /** Absent: the argument is left out. */
  readonly value?: Json;
  /** Callers do not see the argument, and cannot give it. */
  readonly hidden: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** Its group, such as a tag of the document. */
  readonly group?: string;
  readonly annotations: ToolAnnotations;
  /** `index` of its operation. */
  readonly operation: number;
  readonly parameters: readonly ToolParameter[];
  readonly body?: ToolBody;
  readonly defaults?: { readonly [argument: string]: ToolDefault };
  /** Scopes that a token needs for it, as far as the document says. */
  readonly scopes?: readonly string[];
  /** JSON Schema of an object; refers to `ToolsFile.schemas`, else to those of routes.json, as `{"$ref": "gw:<id>"}`. */
  readonly input: JsonObject;
  /** JSON Schema of a call's answer; absent if that is open, or its schema too large to be sent. */
  readonly output?: Json;
}

/** Middlewares of an operation that decide by the caller. */
export interface AccessRule {
  /** `index` of the operation. */
  readonly operation: number;
  /** Places in its `middlewares`, in order, at least one. */
  readonly middlewares: readonly number[];
}

/** Metadata for clients that need a token (RFC 9728). */
export interface Authorization {
  /** URL of the endpoint as clients know it; absent: as they asked for it. */
  readonly resource?: string;
  /** Issuers, at least one. */
  readonly servers: readonly string[];
  readonly scopes: readonly string[];
}

/** An upstream MCP server with tools that are offered beside those of operations (docs/mcp.md#upstreams). */
export interface McpUpstream {
  readonly name: string;
  readonly url: string;
  /** Before the names of its tools; may be empty. */
  readonly prefix: string;
  /** Names of tools without prefix, in which `*` stands for any characters; absent: all. */
  readonly allow?: readonly string[];
  /** The same of prompts. */
  readonly prompts: readonly string[];
  /** The same of URIs of resources, and of their templates. */
  readonly resources: readonly string[];
  /** Headers of each request; values may be references to secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Calls carry the caller's `Authorization`. */
  readonly forward_authorization?: boolean;
  /** `index` of the operation that is asked before each call. */
  readonly authorize?: number;
  /** Seconds for a call. */
  readonly timeout: number;
  /** Seconds between refreshes of its lists. */
  readonly refresh: number;
  /** Digests of the tools that are offered, by name without prefix; absent: tools are taken as they are. */
  readonly pin?: Readonly<Record<string, string>>;
}

export interface ToolsFile {
  /** Instructions of the server for models. */
  readonly instructions?: string;
  /**
   * Origins of web pages that may call, such as `https://chat.example`; pages of this machine may if the gateway is on
   * it.
   */
  readonly origins?: readonly string[];
  /** Clients get tools that find, describe and call the others. */
  readonly search?: boolean;
  /** By operation; present if clients are told only of tools that these middlewares do not refuse to them. */
  readonly access?: readonly AccessRule[];
  /** Absent if no issuer of tokens is known. */
  readonly authorization?: Authorization;
  /** Tools, sorted by name. */
  readonly tools: readonly Tool[];
  /** Upstreams, sorted by name; absent without upstreams. */
  readonly upstreams?: readonly McpUpstream[];
  readonly schemas: { readonly [id: string]: Json };
}
