import { describe, expect, it } from 'vitest';
import { serverEvent } from './server-event.ts';

const read = (value: unknown) => serverEvent(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
const done = (usage: unknown, status = 'completed') => read({ type: 'response.done', response: { status, usage } });

describe('an event of a realtime session', () => {
  it('says that a response has begun', () => {
    expect(read({ type: 'response.created', response: { id: 'r' } })).toEqual({ type: 'begun' });
  });

  it('says what a response has cost', () => {
    const usage = {
      ...{ total_tokens: 30, input_tokens: 20, output_tokens: 10 },
      input_token_details: { text_tokens: 15, audio_tokens: 5, cached_tokens: 3 },
      output_token_details: { text_tokens: 4, audio_tokens: 6 },
    };
    expect(done(usage)).toEqual({
      type: 'done',
      isFailed: false,
      usage: { prompt: 20, completion: 10, cached: 3, reasoning: 0, promptAudio: 5, completionAudio: 6 },
    });
    expect(done({ input_tokens: 1, output_tokens: 0 })).toMatchObject({ usage: { prompt: 1, promptAudio: 0 } });
  });

  it.each([
    [null],
    [undefined],
    ['many'],
    [{}],
    [{ input_tokens: 5 }],
    [{ input_tokens: 0, output_tokens: 0 }],
    [{ input_tokens: -1, output_tokens: 5 }],
    [{ input_tokens: 1e300, output_tokens: 5 }],
    [{ input_tokens: 1.5, output_tokens: 5 }],
    [{ input_tokens: '1', output_tokens: 5 }],
    [{ input_tokens: 1, output_tokens: 5, input_token_details: { audio_tokens: -1 } }],
    [{ input_tokens: 1, output_tokens: 5, output_token_details: { audio_tokens: 1e300 } }],
  ])('says nothing by the count %j', (usage) => {
    expect(done(usage)).toEqual({ type: 'done', isFailed: false, usage: null });
  });

  it('says that a response has failed', () => {
    expect(done(null, 'failed')).toMatchObject({ isFailed: true, usage: null });
  });

  it.each([
    [{ type: 'response.output_text.delta', delta: '"response.done"' }],
    [{ type: 'conversation.item.added', name: 'response.done' }],
    [['response.done']],
    ['"response.done"'],
    ['{"type":"response.done"'],
    [`{"type":"response.done","x":${'['.repeat(200_000)}`],
    [''],
  ])('is another one, or none', (value) => expect(read(value)).toBeNull());
});
