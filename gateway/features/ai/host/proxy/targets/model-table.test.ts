import { describe, expect, it } from 'vitest';
import { EFFORTS, fitEffort } from '../conversation/effort.ts';
import { KNOWN_MODELS } from '../models/known-models.ts';
import { LOCAL, NEWEST } from '../models/model-traits.ts';
import { Glob } from './glob.ts';
import { ModelTable } from './model-table.ts';

const table = new ModelTable({});
const messages = (model: string) => table.traitsOf('provider_messages', model);
const chat = (model: string) => table.traitsOf('provider_chat', model);

describe('what a model takes', () => {
  it.each([
    ['claude-opus-5-5', 'adaptive', 'never', false, false],
    ['us.anthropic.claude-opus-5-5-v1:0', 'adaptive', 'never', false, false],
    ['claude-fable-5-1', 'adaptive', 'never', false, false],
    ['claude-fable-5', 'adaptive', 'never', false, true],
    ['claude-sonnet-5-5', 'adaptive', 'between_tools', false, false],
    ['claude-haiku-5-5', 'adaptive', 'disabled', false, true],
    ['claude-opus-5', 'adaptive', 'disabled', false, true],
    ['claude-sonnet-5', 'adaptive', 'disabled', false, true],
    ['claude-opus-4-8', 'adaptive', 'omitted', false, true],
    ['claude-opus-4.7', 'adaptive', 'omitted', false, true],
    ['claude-opus-4-6', 'adaptive', 'omitted', true, true],
    ['anthropic.claude-sonnet-4-6', 'adaptive', 'omitted', true, true],
    ['claude-sonnet-4-5-20250929', 'budget', 'omitted', true, true],
    ['claude-opus-4-20250514', 'budget', 'omitted', true, true],
    ['claude-haiku-4-5@20251001', 'budget', 'omitted', true, true],
    ['claude-3-7-sonnet-20250219', 'budget', 'omitted', true, true],
    ['claude-3-5-haiku-latest', 'none', 'omitted', true, true],
    ['claude-opus-9', 'adaptive', 'never', false, true],
  ])('of messages: %s', (model, ...traits) => {
    const { thinking, thinkingOff, sampling, forcedTools } = messages(model);
    expect([thinking, thinkingOff, sampling, forcedTools]).toEqual(traits);
  });

  it.each([
    ['gpt-5', 'minimal low medium high', true],
    ['gpt-5-2025-08-07', 'minimal low medium high', true],
    ['openai/gpt-5-mini', 'minimal low medium high', true],
    ['gpt-5-pro', 'high', true],
    ['gpt-5-chat-latest', '', true],
    ['gpt-5.2-chat-latest', '', true],
    ['gpt-5.1', 'none low medium high', true],
    ['gpt-5.5-2026-04-23', 'none low medium high xhigh', true],
    ['gpt-5.6-luna', 'none low medium high xhigh max', false],
    ['gpt-6', 'low medium high xhigh max', false],
    ['o3-mini', 'low medium high', true],
    ['openai/o1', 'low medium high', true],
    ['gpt-oss-120b', 'low medium high', true],
    ['gpt-4o-mini', '', true],
    ['gpt-4.1', '', true],
    ['of-tomorrow', 'low medium high xhigh max', true],
  ])('of chat completions: %s', (model, efforts, withTools) => {
    const traits = chat(model);
    expect([traits.efforts.join(' '), traits.effortWithTools]).toEqual([efforts, withTools]);
    expect(traits.limit).toBe('max_completion_tokens');
  });

  it("is that of servers of one's own, whatever the name", () => {
    expect(table.traitsOf('provider_local', 'gpt-5')).toEqual(LOCAL);
    expect(chat('mistral-large-latest').limit).toBe('max_tokens');
  });

  it('can be said in the config, by the most specific glob, as far as it says something', () => {
    const own = new ModelTable({
      models: {
        '*': { sampling: true },
        'claude-opus-*': { forced_tools: false },
        'claude-opus-5': { thinking_off: 'never' },
      },
    });
    const known = messages('claude-opus-5');
    expect(own.traitsOf('provider_messages', 'claude-opus-5')).toEqual({ ...known, thinkingOff: 'never' });
    expect(own.traitsOf('provider_messages', 'claude-opus-4-8').forcedTools).toBe(false);
    expect(own.traitsOf('provider_messages', 'of-tomorrow')).toEqual({ ...NEWEST, sampling: true });
  });

  it('has a source for each row, and no row that another one hides', () => {
    for (const { patterns, source, read, provider } of KNOWN_MODELS) {
      expect([source, read]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^20\d\d-\d\d-\d\d$/)]);
      const rows = KNOWN_MODELS.filter((each) => each.provider === provider);
      for (const pattern of patterns) {
        const name = pattern
          .replaceAll('*', '')
          .replaceAll(/\[(.)[^\]]*\]/g, '$1')
          .replaceAll('?', '1');
        const row = rows.find((each) => each.patterns.some((glob) => new Glob(glob).matches(name)));
        expect(row?.patterns, name).toBe(patterns);
      }
    }
  });
});

it('an effort becomes the nearest that a model takes, below it if there is one', () => {
  expect(EFFORTS.map((effort) => fitEffort(effort, ['low', 'high']))).toEqual([
    'low',
    'low',
    'low',
    'low',
    'high',
    'high',
    'high',
  ]);
  expect(fitEffort('max', ['none', 'low'])).toBe('low');
  expect(fitEffort('high', [])).toBeNull();
});
