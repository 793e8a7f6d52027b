/** The official clients of npm, as far as cases ask them in different ways. */
import {
  Client as NewerClient,
  ClientCredentialsProvider as NewerProvider,
  StreamableHTTPClientTransport as NewerTransport,
} from '@modelcontextprotocol/client';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { CREDENTIALS, type McpClientRig } from './gateway-of-clients.ts';

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

/** A client that is connected. */
export interface Connection {
  /** What both packages have alike. */
  readonly client: Client | NewerClient;
  /** `data` of the log messages so far. */
  readonly logged: unknown[];
  call(name: string, options?: CallOptions): Promise<object>;
  /** Asks for log messages of the level `info` from now on. */
  wantLogs(): Promise<void>;
}

export interface NpmClient {
  /** As the table has it. */
  readonly name: string;
  readonly era: 'sessions' | 'stateless';
  connect(rig: McpClientRig, withCredentials?: boolean): Promise<Connection>;
}

const IDENTITY = { name: 'test', version: '1' };
const credentials = ({ issuer }: McpClientRig) => ({
  clientId: CREDENTIALS.id,
  clientSecret: CREDENTIALS.secret,
  expectedIssuer: issuer,
});

const sdk: NpmClient = {
  name: '`@modelcontextprotocol/sdk`',
  era: 'sessions',
  async connect(rig, withCredentials = false) {
    const client = new Client(IDENTITY);
    const logged: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
    const more = withCredentials ? { authProvider: new ClientCredentialsProvider(credentials(rig)) } : {};
    await client.connect(new StreamableHTTPClientTransport(new URL(rig.url), more) as never);
    return {
      client,
      logged,
      call: (name, options) => client.callTool({ name, arguments: {} }, undefined, options),
      wantLogs: async () => void (await client.setLoggingLevel('info')),
    };
  },
};

function newer(name: string, era: NpmClient['era']): NpmClient {
  return {
    name,
    era,
    async connect(rig, withCredentials = false) {
      const mode = era === 'sessions' ? 'legacy' : { pin: '2026-07-28' };
      const client = new NewerClient(IDENTITY, { versionNegotiation: { mode } });
      const logged: unknown[] = [];
      let meta: Record<string, unknown> = {};
      client.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params.data));
      const more = withCredentials ? { authProvider: new NewerProvider(credentials(rig)) } : {};
      await client.connect(new NewerTransport(new URL(rig.url), more));
      return {
        client,
        logged,
        call: (tool, options) => client.callTool({ name: tool, arguments: {}, _meta: meta }, options),
        async wantLogs() {
          if (era === 'sessions') await client.setLoggingLevel('info');
          else meta = { 'io.modelcontextprotocol/logLevel': 'info' };
        },
      };
    },
  };
}

export const NPM_CLIENTS: readonly NpmClient[] = [
  sdk,
  newer('`@modelcontextprotocol/client`, sessions', 'sessions'),
  newer('`@modelcontextprotocol/client`, 2026-07-28', 'stateless'),
];
