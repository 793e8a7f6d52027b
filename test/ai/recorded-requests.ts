/** Requests as clients of each surface send them, with all that has a place in them. */

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Name of the city', enum: ['Oslo', 'Rome'] } },
  required: ['city'],
};

const chat = {
  model: 'gpt-4o',
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'auto' } },
        { type: 'input_audio', input_audio: { data: 'UklGRiT/', format: 'wav' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjf/' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      refusal: 'No.',
      reasoning_content: 'Hm.',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '7 degrees' },
  ],
  tools: [{ type: 'function', function: { name: 'weather', description: 'The weather', parameters: SCHEMA } }],
  tool_choice: { type: 'function', function: { name: 'weather' } },
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } },
  stop: ['END'],
  user: 'customer 7',
  metadata: { order: 'number 7' },
  prediction: { type: 'content', content: 'It is cold.' },
  stream_options: { include_usage: true },
};

const responses = {
  model: 'gpt-4o',
  instructions: 'Be brief.',
  previous_response_id: 'resp_1',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'low' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjf/' },
      ],
    },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'A dot.', annotations: [] }],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Small.' }],
      encrypted_content: 'gAAAAAB/////',
    },
    { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call_output', call_id: 'call_1', output: '7 degrees' },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'run', input: 'print(7)' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: '7' }] },
    {
      type: 'computer_call_output',
      call_id: 'call_3',
      output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${PNG}` },
    },
  ],
  tools: [
    { type: 'function', name: 'weather', description: 'The weather', parameters: SCHEMA, strict: true },
    {
      type: 'custom',
      name: 'run',
      description: 'Runs it',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: NUMBER' },
    },
    { type: 'mcp', server_label: 'files', server_url: 'https://mcp.example.com', require_approval: 'never' },
  ],
  text: { format: { type: 'json_schema', name: 'answer', schema: SCHEMA }, verbosity: 'low' },
  prompt: { id: 'pmpt_1', variables: { city: 'Oslo' } },
  reasoning: { effort: 'low', summary: 'auto' },
};

const messages = {
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        {
          type: 'document',
          title: 'Report',
          context: 'Of May',
          source: { type: 'text', media_type: 'text/plain', data: 'All well.' },
        },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjf/' } },
        {
          type: 'search_result',
          source: 'https://example.com',
          title: 'Found',
          content: [{ type: 'text', text: 'There.' }],
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'EqQBCgIYAv////8=' },
        { type: 'redacted_thinking', data: 'EmwKAhgB////' },
        {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'person',
          input: { name: 'Ann', status: 'new', detail: { format: 'any', type: 'x' } },
        },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'Found.' }] }],
    },
  ],
  tools: [{ name: 'person', description: 'Finds a person', input_schema: SCHEMA }],
  metadata: { user_id: 'customer 7' },
  stop_sequences: ['END'],
};

const embeddings = {
  model: 'text-embedding-3-small',
  input: ['one', 'two'],
  encoding_format: 'float',
  user: 'customer 7',
};

export const RECORDED_REQUESTS: Readonly<Record<string, object>> = { chat, responses, messages, embeddings };
