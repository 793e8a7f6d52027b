/** Events of one response of a realtime session, in the order of OpenAI's documentation. */

type Event = Readonly<Record<string, unknown>>;

export const USAGE = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: {
    text_tokens: 119,
    audio_tokens: 13,
    image_tokens: 0,
    cached_tokens: 64,
    cached_tokens_details: { text_tokens: 64, audio_tokens: 0, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
};

export function answerEvents(text: string): readonly Event[] {
  const of = { response_id: 'resp_1', output_index: 0 };
  const part = { ...of, item_id: 'item_2', content_index: 0 };
  const item = { id: 'item_2', object: 'realtime.item', type: 'message', role: 'assistant' };
  const content = [{ type: 'output_text', text }];
  const whole = { ...item, status: 'completed', content };
  const response = { object: 'realtime.response', id: 'resp_1', status_details: null };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', ...of, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...part, part: { type: 'text', text: '' } },
    { type: 'response.output_text.delta', ...part, delta: text.slice(0, 5) },
    { type: 'response.output_text.delta', ...part, delta: text.slice(5) },
    { type: 'response.output_text.done', ...part, text },
    { type: 'response.content_part.done', ...part, part: { type: 'text', text } },
    { type: 'response.output_item.done', ...of, item: whole },
    { type: 'response.done', response: { ...response, status: 'completed', output: [whole], usage: USAGE } },
    {
      type: 'rate_limits.updated',
      rate_limits: [{ name: 'tokens', limit: 50_000, remaining: 49_950, reset_seconds: 0 }],
    },
  ];
}
