/** MCP servers of both eras, made with the official SDKs: upstreams of tests. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Server as SessionServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, type ServerContext, Server as StatelessServer } from '@modelcontextprotocol/server';

export interface CallContext {
  /** Of the HTTP request. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The server's own session; undefined where there is none. */
  readonly session: string | undefined;
  readonly meta: Readonly<Record<string, unknown>>;
  /** Answers of the client to what it was asked by the call before, and what was kept for that. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly state: string | undefined;
  readonly signal: AbortSignal;
  notify(method: string, params: object): Promise<void>;
  /** Asks the client, which only sessions can. */
  ask(method: string, params: object): Promise<unknown>;
}

export interface TestTool {
  readonly definition: { readonly name: string; readonly [member: string]: unknown };
  call(args: Readonly<Record<string, unknown>>, context: CallContext): object | Promise<object>;
}

/** What a server answers methods with that are not about tools. */
export type Methods = Readonly<Record<string, (params: Params, context: CallContext) => object>>;
type Params = Readonly<Record<string, unknown>>;

export interface McpServerOptions {
  readonly methods?: Methods;
  /** By default a free one. */
  readonly port?: number;
}

export interface McpServer {
  readonly url: string;
  /** Tools that it has; a test may change them. */
  tools: TestTool[];
  /** HTTP requests so far. */
  readonly seen: { readonly method: string; readonly headers: IncomingMessage['headers'] }[];
  /** How many sessions are open. */
  readonly sessions: () => number;
  close: () => Promise<void>;
}

export const ANY_OBJECT = { type: 'object' } as const;

/** `era`: of the revisions that it speaks. */
export function startMcpServer(
  era: 'sessions' | 'stateless',
  tools: readonly TestTool[],
  { methods = {}, port = 0 }: McpServerOptions = {},
): Promise<McpServer> {
  const state: State = { tools: [...tools], seen: [], port, methods };
  return era === 'sessions' ? sessionServer(state) : statelessServer(state);
}

interface State extends Pick<McpServer, 'seen'> {
  tools: TestTool[];
  readonly port: number;
  readonly methods: Methods;
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const SCHEMAS = {
  'prompts/list': ListPromptsRequestSchema,
  'prompts/get': GetPromptRequestSchema,
  'resources/list': ListResourcesRequestSchema,
  'resources/templates/list': ListResourceTemplatesRequestSchema,
  'resources/read': ReadResourceRequestSchema,
  'completion/complete': CompleteRequestSchema,
};

function capabilitiesOf({ methods }: State) {
  const has = (name: string, capability: string) => (name in methods ? { [capability]: {} } : {});
  return {
    tools: {},
    logging: {},
    ...has('prompts/list', 'prompts'),
    ...has('resources/list', 'resources'),
    ...has('completion/complete', 'completions'),
  };
}

function toolOf({ tools }: State, name: string): TestTool {
  const tool = tools.find(({ definition }) => definition.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

async function sessionServer(state: State): Promise<McpServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const server = new SessionServer({ name: 'sessions', version: '1' }, { capabilities: capabilitiesOf(state) });
    server.setRequestHandler(
      ListToolsRequestSchema,
      () => ({ tools: state.tools.map((each) => each.definition) }) as never,
    );
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      const context: CallContext = {
        headers: extra.requestInfo?.headers ?? {},
        session: extra.sessionId,
        meta: params._meta ?? {},
        answers: {},
        state: undefined,
        signal: extra.signal,
        notify: async (method, said) => {
          const { level = '' } = said as { level?: string };
          if (method === 'notifications/message' && LEVELS.indexOf(level) < least) return;
          await extra.sendNotification({ method, params: said } as never);
        },
        ask: (method, said) => extra.sendRequest({ method, params: said } as never, ANYTHING as never),
      };
      return toolOf(state, params.name).call(params.arguments ?? {}, context) as never;
    });
    let least = 0;
    server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
      least = LEVELS.indexOf(params.level);
      return {};
    });
    for (const [method, answer] of Object.entries(state.methods)) {
      const schema = SCHEMAS[method as keyof typeof SCHEMAS];
      server.setRequestHandler(
        schema as never,
        (({ params }: { params: Params }) => answer(params ?? {}, NO_CONTEXT)) as never,
      );
    }
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    transport.onclose = () => void transports.delete(transport.sessionId ?? '');
    await server.connect(transport as never);
    return transport;
  };
  return listening(
    state,
    () => transports.size,
    async (request, response) => {
      const id = request.headers['mcp-session-id'];
      const transport = typeof id === 'string' ? transports.get(id) : await open();
      if (transport) return transport.handleRequest(request, response);
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
    },
  );
}

/** Of what is not called as a tool. */
const NO_CONTEXT: CallContext = {
  headers: {},
  session: undefined,
  meta: {},
  answers: {},
  state: undefined,
  signal: new AbortController().signal,
  notify: () => Promise.resolve(),
  ask: () => Promise.reject(new Error('not of a tool')),
};

/** A schema of the older SDK that lets all pass. */
const ANYTHING = { parse: (value: unknown) => value, safeParse: (data: unknown) => ({ success: true, data }) };

async function statelessServer(state: State): Promise<McpServer> {
  const handler = createMcpHandler(
    () => {
      const server = new StatelessServer({ name: 'stateless', version: '1' }, { capabilities: capabilitiesOf(state) });
      server.setRequestHandler('tools/list', () => ({ tools: state.tools.map((each) => each.definition) }) as never);
      const contextOf = ({ mcpReq, http }: ServerContext): CallContext => ({
        headers: Object.fromEntries(http?.req?.headers ?? []),
        session: undefined,
        meta: { ...mcpReq._meta, ...mcpReq.envelope },
        answers: mcpReq.inputResponses ?? {},
        state: mcpReq.requestState(),
        signal: mcpReq.signal,
        notify: (method, said) => mcpReq.notify({ method, params: said } as never),
        ask: () => Promise.reject(new Error('there are no sessions')),
      });
      server.setRequestHandler('tools/call', async ({ params }, context) => {
        return toolOf(state, params.name).call(params.arguments ?? {}, contextOf(context)) as never;
      });
      for (const [method, answer] of Object.entries(state.methods)) {
        server.setRequestHandler(
          method as never,
          (({ params }: { params: Params }, context: ServerContext) =>
            answer(params ?? {}, contextOf(context))) as never,
        );
      }
      return server as never;
    },
    { legacy: 'reject' },
  );
  const server = await listening(
    state,
    () => 0,
    async (request, response) => {
      const closed = new AbortController();
      response.on('close', () => closed.abort());
      const answer = await handler.fetch(await webRequest(request, closed.signal));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body) await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => {});
      else response.end();
    },
  );
  const close = server.close.bind(server);
  server.close = async () => {
    await handler.close();
    await close();
  };
  return server;
}

async function webRequest(request: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const init: RequestInit = { method: request.method ?? 'GET', headers, signal };
  if (chunks.length > 0) init.body = Buffer.concat(chunks);
  return new Request(`http://localhost${request.url}`, init);
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

async function listening(state: State, sessions: () => number, handle: Handle): Promise<McpServer> {
  const server = createServer((request, response) => {
    state.seen.push({ method: request.method ?? '', headers: request.headers });
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(state.port, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    get tools() {
      return state.tools;
    },
    set tools(tools) {
      state.tools = tools;
    },
    seen: state.seen,
    sessions,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
