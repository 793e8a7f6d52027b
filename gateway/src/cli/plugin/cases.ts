/** The cases that `gw plugin test` runs: files of YAML, validated as they are read. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { HttpStub } from '../../../sdk/testing/index.ts';
import type { JsonObject } from '../../artifact/format.ts';
import { PluginPackageError } from '../../plugins/package.ts';
import { parseText } from '../../spec/parse.ts';
import { messageOf } from '../../text/message-of.ts';

const HOOKS = ['on_request', 'on_response', 'dispatch'] as const;
export type CaseHook = (typeof HOOKS)[number];

type Texts = Readonly<Record<string, string>>;
/** Null: it is absent. */
type ExpectedTexts = Readonly<Record<string, string | null>>;

export interface PluginCase {
  readonly name: string;
  /**
   * Default: `dispatch` for dispatchers; for middlewares `on_response` if the case has a response, else `on_request`.
   */
  readonly hook?: CaseHook;
  readonly config?: JsonObject;
  readonly request?: {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    readonly body?: unknown;
    readonly client_ip?: string;
    readonly operation?: { readonly path: string; readonly operation_id?: string; readonly params?: Texts };
    readonly context?: Texts;
  };
  readonly response?: { readonly status: number; readonly headers?: Texts; readonly body?: unknown };
  /** Answers to the plugin's HTTP calls; a call without a matching one fails the case. */
  readonly http_calls?: readonly HttpStub[];
  readonly expect: Expected;
}

/** Expectations of a case: members that it leaves out may have any value. Of objects, only the named members count. */
export interface Expected {
  /** The config is refused, with this in the reason. */
  readonly config_error?: string;
  readonly outcome?: 'continue' | 'answered' | 'handed-off';
  readonly answer?: {
    readonly status?: number;
    readonly headers?: ExpectedTexts;
    readonly body?: string;
    readonly json?: unknown;
  };
  /** Headers that were staged for whatever the response will be. */
  readonly response_headers?: ExpectedTexts;
  /** The request as the next plugin or the upstream sees it. */
  readonly request_headers?: ExpectedTexts;
  readonly request_body?: string;
  readonly query?: string | null;
  readonly context?: ExpectedTexts;
  readonly hand_off?: { readonly upstream?: string; readonly path?: string };
  /** After `on_response`: the response to be sent. */
  readonly response?: {
    readonly status?: number;
    readonly headers?: ExpectedTexts;
    readonly body?: string;
    readonly json?: unknown;
  };
  /** The HTTP calls that the plugin makes, in order. */
  readonly http_calls?: readonly {
    readonly method?: string;
    readonly url?: string;
    readonly headers?: ExpectedTexts;
    readonly body?: string;
    readonly json?: unknown;
  }[];
  /** Each stands in some line of the log. */
  readonly logs?: readonly string[];
}

const texts = { type: 'object', additionalProperties: { type: 'string' } };
const expectedTexts = { type: 'object', additionalProperties: { type: ['string', 'null'] } };
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const message = object({ status: { type: 'integer' }, headers: expectedTexts, body: { type: 'string' }, json: {} });

const headers = {
  type: 'object',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
};
const stub = {
  ...object(
    {
      method: { type: 'string', pattern: '^[A-Za-z]+$' },
      url: { type: 'string', pattern: '^https?://[^/]' },
      status: { type: 'integer', minimum: 200, maximum: 599 },
      headers,
      body: { type: 'string' },
      json: {},
      fails: { enum: ['failed', 'timeout', 'refused', 'too-large', 'no-room'] },
    },
    ['url'],
  ),
  not: { required: ['body', 'json'] },
};
const httpCall = object({
  method: { type: 'string' },
  url: { type: 'string' },
  headers: expectedTexts,
  body: { type: 'string' },
  json: {},
});

const SCHEMA = {
  type: 'array',
  minItems: 1,
  items: object(
    {
      name: { type: 'string', minLength: 1 },
      hook: { enum: HOOKS },
      config: { type: 'object' },
      request: object({
        method: { type: 'string' },
        path: { type: 'string', pattern: '^/' },
        headers,
        body: {},
        client_ip: { type: 'string' },
        operation: object({ path: { type: 'string' }, operation_id: { type: 'string' }, params: texts }, ['path']),
        context: texts,
      }),
      response: object({ status: { type: 'integer' }, headers: texts, body: {} }, ['status']),
      http_calls: { type: 'array', items: stub },
      expect: {
        ...object({
          config_error: { type: 'string' },
          outcome: { enum: ['continue', 'answered', 'handed-off'] },
          answer: message,
          response_headers: expectedTexts,
          request_headers: expectedTexts,
          request_body: { type: 'string' },
          query: { type: ['string', 'null'] },
          context: expectedTexts,
          hand_off: object({ upstream: { type: 'string' }, path: { type: 'string' } }),
          response: message,
          http_calls: { type: 'array', items: httpCall },
          logs: { type: 'array', items: { type: 'string' } },
        }),
        minProperties: 1,
      },
    },
    ['name', 'expect'],
  ),
};

const validate = new Ajv2020({ allErrors: false, strict: false }).compile<readonly PluginCase[]>(SCHEMA);

/**
 * Returns the files of cases in the plugin's folder `tests`, in order. Rejects with PluginPackageError if the folder
 * has no cases.
 */
export async function caseFilesOf(folder: string): Promise<readonly string[]> {
  const names = await readdir(join(folder, 'tests')).catch(() => []);
  const files = names.filter((name) => /\.ya?ml$/.test(name)).sort();
  if (files.length === 0)
    throw new PluginPackageError(`there are no cases: write some into ${join(folder, 'tests')}/*.yaml`);
  return files.map((name) => join(folder, 'tests', name));
}

/** Rejects with PluginPackageError, and the place, if the file holds no cases. */
export async function readCases(file: string): Promise<readonly PluginCase[]> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new PluginPackageError(`cannot read ${file}: ${messageOf(error)}`);
  });
  const parsed = parseText(bytes);
  if (!parsed.ok) {
    const at = parsed.position ? `:${parsed.position.line}:${parsed.position.column}` : '';
    throw new PluginPackageError(`${file}${at}: ${parsed.message}`);
  }
  const cases: unknown = parsed.value;
  if (validate(cases)) return cases;
  const [error] = validate.errors ?? [];
  const { instancePath = '', message = 'is not valid', params = {} } = error ?? {};
  const what = 'additionalProperty' in params ? ` ("${params['additionalProperty']}")` : '';
  throw new PluginPackageError(`${file}: ${instancePath || 'the file'} ${message}${what}`);
}
