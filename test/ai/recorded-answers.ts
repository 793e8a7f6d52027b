/** Answers as providers of each surface send them, whole and as the events of streams. */

const chat = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  system_fingerprint: 'fp_1',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        content: 'Hello.',
        refusal: 'No.',
        reasoning_content: 'Hm.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Well.', id: 'r1', format: 'x', index: 0 }],
        audio: { id: 'audio_1', data: 'UklGRiT/', transcript: 'Hello.', expires_at: 2 },
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://example.com', title: 'There' } }],
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'call_2', type: 'custom', custom: { name: 'run', input: 'print(7)' } },
        ],
      },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
};

const output = [
  {
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'Hello.',
        annotations: [{ type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 0 }],
      },
    ],
  },
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Small.' }],
    encrypted_content: 'gAAAAAB/////',
  },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'run', input: 'print(7)' },
  { type: 'code_interpreter_call', id: 'ci_1', code: 'print(7)', outputs: [{ type: 'logs', logs: '7' }] },
  { type: 'file_search_call', id: 'fs_1', queries: ['may'], results: [{ text: 'In May.', filename: 'a.pdf' }] },
  { type: 'mcp_call', id: 'mcp_1', name: 'read', server_label: 'files', arguments: '{}', output: 'All of it.' },
  { type: 'image_generation_call', id: 'ig_1', result: 'iVBORw0KGgo/', revised_prompt: 'A dot.' },
  { type: 'local_shell_call_output', id: 'ls_1', output: 'done' },
];
const responses = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-4o',
  instructions: 'Be brief.',
  output,
  metadata: { order: '7' },
};

const content = [
  { type: 'thinking', thinking: 'Hm.', signature: 'EqQBCgIYAv////8=' },
  {
    type: 'text',
    text: 'Hello.',
    citations: [{ type: 'char_location', cited_text: 'All well.', document_title: 'Report' }],
  },
  { type: 'tool_use', id: 'toolu_1', name: 'person', input: { name: 'Ann', deep: [{ status: 'new' }] } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srv_1',
    content: [
      {
        type: 'web_search_result',
        url: 'https://example.com',
        title: 'There',
        encrypted_content: 'EqQBCgIYAv////8=',
        page_age: 'May',
      },
    ],
  },
  {
    type: 'bash_code_execution_tool_result',
    tool_use_id: 'srv_2',
    content: { type: 'bash_code_execution_result', stdout: '7', stderr: '', return_code: 0 },
  },
];
const messages = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 2 },
};

const embeddings = {
  object: 'list',
  model: 'text-embedding-3-small',
  data: [{ object: 'embedding', index: 0, embedding: 'AACAPwAAAD8=' }],
};

export const RECORDED_ANSWERS: Readonly<Record<string, object>> = { chat, responses, messages, embeddings };

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o',
  choices: [{ index: 0, delta, finish_reason }],
});
const part = { item_id: 'msg_1', output_index: 0, content_index: 0 };

export const RECORDED_STREAMS: Readonly<Record<string, readonly object[]>> = {
  chat: [
    chunk({ role: 'assistant', content: 'Hel' }),
    chunk({
      content: 'lo.',
      reasoning: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Well.', index: 0 }],
    }),
    chunk({ audio: { id: 'audio_1', transcript: 'Hello.' } }),
    chunk({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://example.com', title: 'There' } }] }),
    chunk({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":' } }],
    }),
    chunk({ tool_calls: [{ index: 1, id: 'call_2', type: 'custom', custom: { name: 'run', input: 'print(7)' } }] }),
    chunk({ function_call: { name: 'old', arguments: '{}' } }),
    chunk({}, 'stop'),
  ],
  responses: [
    {
      type: 'response.created',
      sequence_number: 0,
      response: { id: 'resp_1', object: 'response', status: 'in_progress', instructions: 'Be brief.' },
    },
    { type: 'response.output_text.delta', sequence_number: 1, ...part, delta: 'Hello.' },
    {
      type: 'response.output_text.annotation.added',
      sequence_number: 2,
      ...part,
      annotation: { type: 'url_citation', url: 'https://example.com', title: 'There' },
    },
    { type: 'response.output_text.done', sequence_number: 3, ...part, text: 'Hello.' },
    {
      type: 'response.content_part.done',
      sequence_number: 4,
      ...part,
      part: { type: 'output_text', text: 'Hello.', annotations: [] },
    },
    {
      type: 'response.custom_tool_call_input.delta',
      sequence_number: 5,
      item_id: 'ctc_1',
      output_index: 1,
      delta: 'print(7)',
    },
    {
      type: 'response.custom_tool_call_input.done',
      sequence_number: 6,
      item_id: 'ctc_1',
      output_index: 1,
      input: 'print(7)',
    },
    {
      type: 'response.code_interpreter_call_code.done',
      sequence_number: 7,
      item_id: 'ci_1',
      output_index: 2,
      code: 'print(7)',
    },
    { type: 'response.audio.transcript.done', sequence_number: 8, transcript: 'Hello.' },
    ...output.map((item, i) => ({ type: 'response.output_item.done', sequence_number: 9 + i, output_index: i, item })),
    { type: 'response.completed', sequence_number: 20, response: responses },
  ],
  messages: [
    { type: 'message_start', message: { ...messages, content: [] } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'content_block_start', index: 9, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'Hello.' } },
    {
      type: 'content_block_delta',
      index: 9,
      delta: { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'All well.' } },
    },
    { type: 'content_block_stop', index: 9 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
      usage: { output_tokens: 2 },
    },
    { type: 'message_stop' },
  ],
  'nothing that is known': [{ type: 'new_event', text: 'Hello.', more: [{ any: 'thing' }] }, { any: ['thing'] }],
};
