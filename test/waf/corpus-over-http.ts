/** Sends cases of the rule set's regression tests to a gateway with `waf`, and reads from its log which rules matched. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';
import type { CorpusCase } from './corpus.ts';
import { answerOf } from './upstream.ts';

export interface SentStage {
  readonly status: number | null;
  /** Rules whose matches were logged; null if the request was refused before rules ran. */
  readonly ids: readonly number[] | null;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'options', 'head'] as const;
/** Methods of WebDAV, which tests of exclusion packages have. */
const MORE_METHODS = ['MKCALENDAR', 'MKCOL', 'MOVE', 'PROPFIND', 'PROPPATCH', 'REPORT', 'SEARCH'] as const;
const SETUP = 'setup.conf';
/** What the tests expect beside the defaults of the rule set (its `crs-setup.conf` for tests). */
const REGRESSION = `SecAction "id:900005,phase:1,nolog,pass,ctl:ruleRemoveById=910000,\\
setvar:tx.crs_validate_utf8_encoding=1,setvar:tx.arg_name_length=100,\\
setvar:tx.arg_length=400,setvar:tx.total_arg_length=64000,setvar:tx.max_num_args=255,\\
setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535"
`;

export interface CorpusRig {
  send(each: CorpusCase): Promise<readonly SentStage[]>;
  stop(): Promise<void>;
}

export interface RigOptions {
  /** Paranoia level. */
  readonly level: number;
  /** Exclusion packages, none by default. */
  readonly packages?: readonly string[];
}

/** Starts the upstream that the tests expect, and a gateway that takes any path, in mode `detect`. */
export async function startCorpusRig(options: RigOptions): Promise<CorpusRig> {
  const upstream = createServer((request, response) => void reflect(request, response));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const gw = await startGateway(await artifactFor(options, portOf(upstream)));
  return {
    send: async ({ stages }) => {
      const sent: SentStage[] = [];
      for (const { raw } of stages) sent.push(await exchange(gw, raw));
      return sent;
    },
    stop: async () => {
      await gw.stop();
      upstream.close();
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function reflect(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  const body = await buffer(request);
  const answer = answerOf({ method, target: url, version: 'HTTP/1.1', headers: [], body });
  response.writeHead(answer.status, answer.headers.flat());
  response.end(answer.body);
}

function artifactFor({ level, packages = [] }: RigOptions, port: number): Promise<Uint8Array> {
  const waf = {
    ...{ mode: 'detect', paranoia_level: level, rules: [SETUP], exclusion_packages: packages },
    request_body: { over_limit: 'partial' },
    response_body: { inspect: true },
    audit_log: { requests: 'all' },
  };
  const operation = (path: string, method: string) => ({
    ...(path === '/' ? {} : { parameters: [GREEDY] }),
    ...(method === 'get' || method === 'head' ? {} : { requestBody: { content: { '*/*': {} } } }),
    responses: { default: { description: 'Any', content: { '*/*': {} } } },
    'x-gw-middlewares': [{ name: 'waf', config: waf }],
    'x-gw-dispatch': { name: 'http-upstream', config: { url: `http://127.0.0.1:${port}` } },
  });
  const operations = (path: string, methods: readonly string[]) =>
    Object.fromEntries(methods.map((method) => [method, operation(path, method)]));
  const paths = ['/', '/{rest+}'].map((path) => [
    path,
    { ...operations(path, METHODS), additionalOperations: operations(path, MORE_METHODS) },
  ]);
  const api = { openapi: '3.2.0', info: { title: 'Any', version: '1' }, paths: Object.fromEntries(paths) };
  const files = [
    { name: 'api.json', bytes: Buffer.from(JSON.stringify(api)) },
    { name: SETUP, bytes: Buffer.from(REGRESSION) },
  ];
  return compileSpec(api, ['waf', 'http-upstream'], [], {}, { files });
}

const GREEDY = { name: 'rest', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } };

/** Milliseconds without an answer after which a request counts as unanswered. */
const PATIENCE_MS = 10_000;

async function exchange(gw: Gateway, raw: Buffer): Promise<SentStage> {
  const { port } = new URL(gw.url);
  const head = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(raw));
    const end = () => {
      socket.destroy();
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (/\r\n\r\n/.test(text) && !text.startsWith('HTTP/1.1 1')) end();
    });
    socket.setTimeout(PATIENCE_MS, end);
    socket.on('error', end).on('close', end);
  });
  const status = /^HTTP\/1\.1 (\d+)/.exec(head)?.[1];
  const requestId = /^x-request-id: (\S+)/im.exec(head)?.[1];
  if (status === undefined || requestId === undefined)
    return { status: status === undefined ? null : Number(status), ids: null };
  const line = await gw.logged(({ msg, request_id: id }) => msg === 'request' && id === requestId);
  const waf = line['waf'] as { rule?: number; rules?: readonly { id: number }[] } | undefined;
  // The rule that refuses is named beside the first ones that matched.
  const ids = waf?.rules?.map(({ id }) => id).concat(waf.rule ?? []) ?? null;
  return { status: Number(status), ids };
}
