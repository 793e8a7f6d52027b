/** What the conformance suite asks for that operations of an API do not have: an upstream, made with the official SDKs. */
import { createHmac } from 'node:crypto';
import { type CallContext, type McpServer, type Methods, startMcpServer, type TestTool } from '../serve/mcp-servers.ts';

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const text = (value: string) => ({ type: 'text', text: value });
const says = (value: string) => ({ content: [text(value)] });
const user = (content: object) => ({ role: 'user', content });

function tool(name: string, call: TestTool['call'], inputSchema: object = { type: 'object' }): TestTool {
  return { definition: { name, description: `Answers as ${name}`, inputSchema }, call };
}

/** Every keyword that a gateway could lose. */
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const COMMON: readonly TestTool[] = [
  tool('test_multiple_content_types', () => ({
    content: [
      text('Multiple content types test:'),
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  })),
  tool('test_tool_with_progress', async (_, { meta, notify }) => {
    const { progressToken } = meta;
    for (const progress of [0, 50, 100])
      await notify('notifications/progress', { progressToken, progress, total: 100 });
    return says(String(progressToken));
  }),
  tool('test_tool_with_logging', async (_, { notify }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await notify('notifications/message', { level: 'info', data });
    }
    return says('Tool with logging executed successfully');
  }),
  tool('json_schema_2020_12_tool', () => says('called'), SCHEMA),
];

const elicit = (message: string, name: string, type = 'string') => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
  },
});
const sample = (prompt: string) => ({
  method: 'sampling/createMessage',
  params: { messages: [user(text(prompt))], maxTokens: 100 },
});
const ROOTS = { method: 'roots/list', params: {} };
const needs = (inputRequests: object, requestState?: string) => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState === undefined ? {} : { requestState }),
});
const answerIn = (answer: unknown, name: string): unknown =>
  (answer as { content?: Record<string, unknown> } | undefined)?.content?.[name];

const sealed = (state: object) => {
  const data = JSON.stringify(state);
  return JSON.stringify({ data, seal: createHmac('sha256', 'fixture').update(data).digest('hex') });
};
function isSealed(state: string): boolean {
  try {
    const { data } = JSON.parse(state) as { data: string };
    return sealed(JSON.parse(data)) === state;
  } catch {
    return false;
  }
}

class RpcFault extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const capabilities = ({ meta }: CallContext) =>
  (meta['io.modelcontextprotocol/clientCapabilities'] ?? {}) as Readonly<Record<string, unknown>>;

/** Tools that ask their client, by results. */
const ASKING: readonly TestTool[] = [
  tool('test_input_required_result_elicitation', (_, { answers: { user_name: given } }) =>
    given ? says(`Hello, ${answerIn(given, 'name')}!`) : needs({ user_name: elicit('What is your name?', 'name') }),
  ),
  tool('test_input_required_result_sampling', (_, { answers: { sample_request: given } }) =>
    given
      ? says(`Sampling result: ${answerIn(given, 'text')}`)
      : needs({ sample_request: sample('What is the capital of France?') }),
  ),
  tool('test_input_required_result_list_roots', (_, { answers: { roots_request: given } }) =>
    given ? says(`Found ${(given as { roots: unknown[] }).roots.length} root(s)`) : needs({ roots_request: ROOTS }),
  ),
  tool('test_input_required_result_request_state', (_, { answers: { confirm }, state }) =>
    confirm && state === 'kept'
      ? says('state-ok')
      : needs({ confirm: elicit('Please confirm', 'ok', 'boolean') }, 'kept'),
  ),
  tool('test_input_required_result_multiple_inputs', (_, { answers, state }) =>
    state === 'kept' && answers['user_name'] && answers['greeting'] && answers['client_roots']
      ? says(`${answerIn(answers['user_name'], 'name')}, ${answerIn(answers['greeting'], 'text')}`)
      : needs(
          {
            user_name: elicit('What is your name?', 'name'),
            greeting: sample('Generate a greeting'),
            client_roots: ROOTS,
          },
          'kept',
        ),
  ),
  tool('test_input_required_result_multi_round', (_, { answers: { step1, step2 }, state }) => {
    if (state === 'round 2' && step2) return says(`You like ${answerIn(step2, 'color')}`);
    if (state === 'round 1' && step1) return needs({ step2: elicit('Which color?', 'color') }, 'round 2');
    return needs({ step1: elicit('What is your name?', 'name') }, 'round 1');
  }),
  tool('test_input_required_result_tampered_state', (_, { answers: { confirm }, state }) => {
    if (state !== undefined && !isSealed(state)) throw new RpcFault(-32602, 'requestState is not what was given out');
    return confirm && state
      ? says('integrity-ok')
      : needs({ confirm: elicit('Please confirm', 'ok', 'boolean') }, sealed({ kind: 'tamper-test' }));
  }),
  tool('test_input_required_result_capabilities', (_, context) => {
    const has = capabilities(context);
    const asked = {
      ...(has['elicitation'] ? { elicit_input: elicit('Elicitation input', 'value') } : {}),
      ...(has['sampling'] ? { sample_input: sample('Sample request') } : {}),
    };
    const isAnswered = Object.keys(context.answers).length > 0;
    return isAnswered || Object.keys(asked).length === 0 ? says('capabilities-ok') : needs(asked, 'kept');
  }),
  tool('test_missing_capability', (_, context) => {
    if (capabilities(context)['sampling']) return says('Success');
    throw new RpcFault(-32021, 'Missing required client capability', { requiredCapabilities: { sampling: {} } });
  }),
  tool('test_streaming_elicitation', async (_, { meta, notify }) => {
    const { progressToken } = meta;
    if (progressToken !== undefined)
      await notify('notifications/progress', { progressToken, progress: 50, total: 100 });
    return says('Streaming complete');
  }),
  tool('test_logging_tool', async (_, { meta, notify }) => {
    const level = meta['io.modelcontextprotocol/logLevel'];
    if (level !== undefined) await notify('notifications/message', { level: 'info', data: 'activated' });
    return says('Logging evaluated');
  }),
  tool('test_custom_headers', (args) => says(JSON.stringify(args)), {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      priority: { type: 'integer', 'x-mcp-header': 'Priority' },
      verbose: { type: 'boolean', 'x-mcp-header': 'Verbose' },
      query: { type: 'string' },
    },
  }),
];

const argument = (name: string) => ({ name, description: `The argument ${name}`, required: true });
const PROMPTS = [
  { name: 'test_simple_prompt', description: 'A prompt without arguments' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two',
    arguments: [argument('arg1'), argument('arg2')],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource',
    arguments: [argument('resourceUri')],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with a picture' },
];
const ASKING_PROMPT = { name: 'test_input_required_result_prompt', description: 'A prompt that asks its client' };

const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PIXEL },
};

function prompt(
  name: unknown,
  args: Readonly<Record<string, string>>,
  { answers: { user_context: given } }: CallContext,
): object {
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [user(text('This is a simple prompt for testing.'))] };
    case 'test_prompt_with_arguments':
      return { messages: [user(text(`Prompt with arguments: arg1='${args['arg1']}', arg2='${args['arg2']}'`))] };
    case 'test_prompt_with_embedded_resource': {
      const resource = {
        uri: args['resourceUri'],
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      };
      return {
        messages: [user({ type: 'resource', resource }), user(text('Please process the embedded resource above.'))],
      };
    }
    case 'test_prompt_with_image':
      return { messages: [user({ type: 'image', data: PIXEL, mimeType: 'image/png' }), user(text('What is it?'))] };
    case 'test_input_required_result_prompt':
      return given
        ? { messages: [user(text(`Prompt with context: ${answerIn(given, 'context')}`))] }
        : needs({ user_context: elicit('What context should the prompt use?', 'context') });
    default:
      throw new RpcFault(-32602, 'no such prompt');
  }
}

function resource(uri: string): object {
  const found = RESOURCES[uri as keyof typeof RESOURCES];
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (found) return { contents: [{ uri, ...found }] };
  if (id === undefined) throw new RpcFault(-32002, 'Resource not found', { uri });
  return {
    contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }],
  };
}

const methods = (prompts: readonly object[]): Methods => ({
  'prompts/list': () => ({ prompts }),
  'prompts/get': ({ name, arguments: args = {} }, context) => prompt(name, args as never, context),
  'resources/list': () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri.slice(7), mimeType })),
  }),
  'resources/templates/list': () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }),
  'resources/read': ({ uri }) => resource(String(uri)),
  'completion/complete': () => ({ completion: { values: ['paris'], total: 1, hasMore: false } }),
});

export function startFixtureServer(era: 'sessions' | 'stateless'): Promise<McpServer> {
  return era === 'sessions'
    ? startMcpServer(era, COMMON, { methods: methods(PROMPTS) })
    : startMcpServer(era, [...COMMON, ...ASKING], { methods: methods([...PROMPTS, ASKING_PROMPT]) });
}
