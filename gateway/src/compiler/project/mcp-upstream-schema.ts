/**
 * Settings of upstream MCP servers in gw.yaml, in the Kubernetes kinds and in the REST API (docs/mcp.md#upstreams). It
 * uses only keywords that schemas of CRDs allow; the compiler refuses unknown members (`compiler/tools/mcp-upstreams.ts`).
 */

/** Names of upstreams. */
export const mcpUpstreamName = /^(?=.{1,40}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

export interface McpUpstreamSettings {
  readonly url: string;
  readonly prefix?: string;
  readonly allow?: readonly string[];
  readonly prompts?: readonly string[];
  readonly resources?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly forward_authorization?: boolean;
  readonly authorize?: string;
  readonly timeout?: number;
  readonly refresh?: number;
  readonly pin?: Readonly<Record<string, string>>;
}

export interface McpSettings {
  /** By name. */
  readonly upstreams?: Readonly<Record<string, McpUpstreamSettings>>;
}

export const mcpUpstreamSchema = {
  type: 'object',
  required: ['url'],
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      maxLength: 2048,
      description: 'URL of its endpoint (streamable HTTP), such as https://tools.example.com/mcp.',
    },
    prefix: {
      type: 'string',
      maxLength: 40,
      pattern: '^[A-Za-z0-9_.-]*$',
      description:
        'Put before the names of its tools; may be empty. Default: the name of the upstream, with _ for each -, and _.',
    },
    allow: {
      type: 'array',
      maxItems: 500,
      items: {
        type: 'string',
        minLength: 1,
        maxLength: 128,
        pattern: '^[A-Za-z0-9_./*-]+$',
      },
      description:
        'Names of its tools that are offered, without prefix; * stands for any characters. Default: all of them.',
    },
    prompts: {
      type: 'array',
      maxItems: 500,
      items: { type: 'string', minLength: 1, maxLength: 128 },
      description:
        'Names of its prompts that are offered, as in allow. Default: all of them, or none if allow or pin is set.',
    },
    resources: {
      type: 'array',
      maxItems: 500,
      items: { type: 'string', minLength: 1, maxLength: 2048 },
      description:
        'URIs of its resources, and their templates, that are offered, as in allow. Default: all of them, or none if allow or pin is set.',
    },
    headers: {
      type: 'object',
      maxProperties: 32,
      additionalProperties: { type: 'string', minLength: 1, maxLength: 8192 },
      description:
        'Headers of every request to it, such as its credential: a value, or a reference to a secret (env:// or file://).',
    },
    forward_authorization: {
      type: 'boolean',
      description: 'Calls carry the Authorization of the caller. Default: false.',
    },
    authorize: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description:
        'operationId of an operation that the gateway calls before each call, with the headers of the caller: unless it answers with 2xx, the call is refused with its answer. Default: none.',
    },
    timeout: {
      type: 'number',
      minimum: 0.1,
      maximum: 3600,
      description: 'Seconds that a call may take. Default: 60.',
    },
    refresh: {
      type: 'number',
      minimum: 1,
      maximum: 86_400,
      description: 'Seconds between refreshes of its lists. Default: 60.',
    },
    pin: {
      type: 'object',
      maxProperties: 1000,
      additionalProperties: {
        type: 'string',
        pattern: '^sha256:[0-9a-f]{64}$',
      },
      description:
        'By name of a tool, without prefix, the digest of its definition: a tool with another digest, and one that is not listed here, is not offered. Default: tools are taken as they are.',
    },
  },
} as const;

/** `mcp` of a project. */
export const mcpSchema = {
  type: 'object',
  description: 'MCP: what is offered to agents beside the operations of the documents.',
  properties: {
    upstreams: {
      type: 'object',
      description: 'MCP servers whose tools, prompts and resources are offered beside those of operations, by name.',
      maxProperties: 100,
      additionalProperties: mcpUpstreamSchema,
    },
  },
} as const;
