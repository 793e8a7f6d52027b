/** A real `gw-control serve` process for tests, and a client of it. */
import { spawn } from 'node:child_process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Operation } from '../../control/src/api/operation.ts';
import { NAMED_SCHEMAS } from '../../control/src/modules/index.ts';
import { OPERATIONS } from '../../control/src/modules/operations.ts';
import { type LoggingProcess, loggingProcess } from '../logging-process.ts';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { programEnv } from '../programs/program.ts';
import { unopenedDatabase } from './database.ts';

const ANY_PORTS = ['--listen', '127.0.0.1:0', '--admin-bind', '127.0.0.1:0'];

export const ADMIN_TOKEN = 'the-admin-token-of-tests';

export interface ControlServer extends LoggingProcess {
  readonly url: string;
  /** Of the admin listener. */
  readonly adminUrl: string;
  /** Asks with the admin token; `json` becomes the body. Throws where the answer is not what its operation says. */
  ask(path: string, init?: AskInit): Promise<Response>;
  /** As `ask`, and the JSON of the answer, which must be a success. */
  get<T = Record<string, unknown>>(path: string, init?: AskInit): Promise<T>;
}

export interface AskInit extends RequestInit {
  readonly json?: unknown;
  readonly token?: string;
}

export interface ControlOptions {
  /** Default: one of its own, on the server of tests where there is one, else embedded. */
  readonly databaseUrl?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The program. Default: `gw-control` of test/programs. */
  readonly main?: string;
}

export async function startControl({ databaseUrl, ...options }: ControlOptions = {}): Promise<ControlServer> {
  if (databaseUrl !== undefined) return startOn(databaseUrl, options);
  const database = await unopenedDatabase();
  const control = await startOn(database.url, options);
  const exited = control.exited.finally(database.drop);
  return { ...control, exited, stop: () => control.stop().finally(() => exited) };
}

async function startOn(
  databaseUrl: string,
  { args = [], env = {}, main = GW_CONTROL }: ControlOptions,
): Promise<ControlServer> {
  const child = spawn(process.execPath, [main, 'serve', ...ANY_PORTS, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...programEnv(),
      GW_CONTROL_ADMIN_TOKEN: ADMIN_TOKEN,
      DATABASE_URL: databaseUrl,
      ...env,
    },
  });
  const program = loggingProcess(child, 'gw-control serve');
  const serving = await program.logged(({ msg }) => msg === 'serving');
  const url = `http://${serving['listen']}`;
  const admin = program.log.find(({ msg }) => msg === 'admin listening')?.['admin'];
  return { ...program, url, adminUrl: `http://${admin}`, ...client(url) };
}

function client(url: string): Pick<ControlServer, 'ask' | 'get'> {
  const ask = async (path: string, { json, token = ADMIN_TOKEN, headers, ...init }: AskInit = {}) => {
    const response = await fetch(url + path, {
      ...init,
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    await checkAnswer(init.method ?? 'GET', path, response);
    return response;
  };
  return {
    ask,
    async get<T>(path: string, init?: AskInit): Promise<T> {
      const response = await ask(path, init);
      const text = await response.text();
      if (!response.ok) throw new Error(`${init?.method ?? 'GET'} ${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
  };
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, schemas: [...NAMED_SCHEMAS] });

const routes = Object.entries<Operation>(OPERATIONS).map(([id, operation]) => ({
  id,
  operation,
  path: new RegExp(`^${operation.path.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`),
}));

/** Throws where a success has a status or a body that its operation does not name: for every answer that a test gets. */
async function checkAnswer(method: string, path: string, response: Response): Promise<void> {
  // 304 and problems are not of the operation.
  if (!response.ok) return;
  const [pathname = ''] = path.split('?');
  const route = routes.find(({ operation, path: pattern }) => operation.method === method && pattern.test(pathname));
  if (!route) return;
  const { id, operation } = route;
  const answer = operation.answers[response.status];
  if (!answer) throw new Error(`${id} answers ${response.status}, which its operation does not name`);
  if ('types' in answer) {
    const type = response.headers.get('content-type')?.split(';')[0] ?? '';
    const { types } = answer;
    if (types.length === 0 ? type === '' : types.includes(type)) return;
    throw new Error(`${id} answers "${type}" instead of ${types.join(' or ') || 'no content'}`);
  }
  const json: unknown = await response.clone().json();
  if (ajv.validate(answer, json)) return;
  throw new Error(`${id} answers something else than its schema: ${ajv.errorsText()}: ${JSON.stringify(json)}`);
}
