/** Responses of the provider of chat completions: echoes, calls the tools that it is given, thinks before. */

type Member = Readonly<Record<string, unknown>>;

function members(value: unknown): readonly Member[] {
  return Array.isArray(value) ? value.map((each) => Object(each)) : [];
}

const USAGE = {
  input_tokens: 21,
  input_tokens_details: { cached_tokens: 16 },
  output_tokens: 8,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 29,
};

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return members(content)
    .map((part) => String(part['text'] ?? `[${String(part['type'])}]`))
    .join('');
}

/** Text of the last item; where a form is asked for, one that has it. */
function lastText({ input, text }: Member): string {
  if (Object(Object(text).format).type === 'json_schema') return '{"city":"Köln"}';
  if (typeof input === 'string') return input;
  const last = members(input).at(-1);
  return textOf(last?.['content'] ?? last?.['output']);
}

function outputOf(body: Member): readonly Member[] {
  const last = members(body['input']).at(-1);
  const calls = last?.['type'] === 'function_call_output' ? [] : members(body['tools']);
  const thought = { id: 'rs_1', type: 'reasoning', summary: [] };
  if (calls.length === 0) {
    const content = [{ type: 'output_text', text: lastText(body), annotations: [], logprobs: [] }];
    return [thought, { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content }];
  }
  return [
    thought,
    ...calls.map(({ name }, i) => ({
      id: `fc_${i}`,
      type: 'function_call',
      status: 'completed',
      call_id: `call_${i}`,
      name,
      arguments: JSON.stringify({ city: `Köln ${i}` }),
    })),
  ];
}

function head(body: Member): Member {
  return {
    id: 'resp_of_the_provider',
    object: 'response',
    created_at: 1_700_000_000,
    model: `${String(body['model'])}-2026-01-01`,
    error: null,
    incomplete_details: null,
    previous_response_id: null,
    store: body['store'] ?? true,
    tools: body['tools'] ?? [],
    tool_choice: body['tool_choice'] ?? 'auto',
    parallel_tool_calls: true,
    text: body['text'] ?? { format: { type: 'text' } },
  };
}

export function response(body: Member): object {
  return { ...head(body), status: 'completed', output: outputOf(body), usage: USAGE };
}

export function responseEvents(body: Member): readonly string[] {
  let sequence = 0;
  const event = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  const begun = { ...head(body), status: 'in_progress', output: [], usage: null };
  return [
    event('response.created', { response: begun }),
    event('response.in_progress', { response: begun }),
    ...outputOf(body).flatMap((item, output_index) => itemEvents(item, output_index, event)),
    event('response.completed', { response: response(body) }),
  ];
}

function itemEvents(item: Member, output_index: number, event: (type: string, data: object) => string) {
  const item_id = item['id'];
  const place = { item_id, output_index };
  const started = { ...item, status: 'in_progress' };
  const done = () => event('response.output_item.done', { output_index, item });
  if (item['type'] === 'function_call') {
    const text = String(item['arguments']);
    return [
      event('response.output_item.added', { output_index, item: { ...started, arguments: '' } }),
      ...(text.match(/.{1,5}/gsu) ?? []).map((delta) =>
        event('response.function_call_arguments.delta', { ...place, delta }),
      ),
      event('response.function_call_arguments.done', { ...place, name: item['name'], arguments: text }),
      done(),
    ];
  }
  if (item['type'] !== 'message') return [event('response.output_item.added', { output_index, item: started }), done()];
  const [part = {}] = members(item['content']);
  const text = String(part['text']);
  const at = { ...place, content_index: 0 };
  return [
    event('response.output_item.added', { output_index, item: { ...started, content: [] } }),
    event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
    ...(text.match(/\S+\s*/g) ?? []).map((delta) =>
      event('response.output_text.delta', { ...at, delta, logprobs: [] }),
    ),
    event('response.output_text.done', { ...at, text, logprobs: [] }),
    event('response.content_part.done', { ...at, part }),
    done(),
  ];
}
