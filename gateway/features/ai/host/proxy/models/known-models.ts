/**
 * Traits of models that their providers have documented, with source and date. The first row whose pattern matches
 * counts. Members that a row leaves out are as for the newest models. docs/ai-models.md is generated.
 */
import type { Effort } from '../conversation/effort.ts';
import type { ModelTraits } from './model-traits.ts';

export interface KnownModel {
  readonly provider: 'provider_chat' | 'provider_messages';
  /** Globs over the whole name; clouds have names of their own around that of a model. */
  readonly patterns: readonly string[];
  readonly traits: Partial<ModelTraits>;
  /** Page of the provider. */
  readonly source: string;
  /** When it was read. */
  readonly read: string;
}

const UP_TO_MAX: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

const CLAUDE = 'https://platform.claude.com/docs/en';
const OPENAI = 'https://developers.openai.com/api/docs';
const READ = '2026-11-26';

type Row = readonly [patterns: readonly string[], traits: Partial<ModelTraits>, source: string];

const MESSAGES: readonly Row[] = [
  [
    ['*claude-opus-5[-.]5*', '*claude-fable-5[-.][1-9]*', '*claude-mythos-5[-.][1-9]*'],
    { thinkingOff: 'never', forcedTools: false },
    `${CLAUDE}/models/opus-5-5/migration-guide`,
  ],
  [
    ['*claude-sonnet-5[-.]5*'],
    { thinkingOff: 'between_tools', forcedTools: false },
    `${CLAUDE}/models/sonnet-5-5/whats-new-sonnet-5-5`,
  ],
  [
    ['*claude-haiku-5[-.]5*'],
    { thinkingOff: 'disabled', forcedTools: true },
    `${CLAUDE}/models/haiku-5-5/migration-guide`,
  ],
  [
    ['*claude-fable-5', '*claude-mythos-5', '*claude-mythos-preview*'],
    { thinkingOff: 'never', forcedTools: true },
    `${CLAUDE}/build-with-claude/thinking`,
  ],
  [['*claude-opus-5*'], { thinkingOff: 'disabled', forcedTools: true }, `${CLAUDE}/models/opus-5/migration-guide`],
  [['*claude-sonnet-5*'], { thinkingOff: 'disabled', forcedTools: true }, `${CLAUDE}/models/sonnet-5/migration-guide`],
  [
    ['*claude-opus-4[-.]8*'],
    { thinkingOff: 'omitted', forcedTools: true },
    `${CLAUDE}/about-claude/models/whats-new-claude-4-8`,
  ],
  [
    ['*claude-opus-4[-.]7*'],
    { thinkingOff: 'omitted', forcedTools: true },
    `${CLAUDE}/build-with-claude/adaptive-thinking`,
  ],
  [
    ['*claude-opus-4[-.]6*', '*claude-sonnet-4[-.]6*'],
    {
      ...{ efforts: ['low', 'medium', 'high', 'max'], thinkingOff: 'omitted' },
      ...{ sampling: true, forcedTools: true },
    },
    `${CLAUDE}/build-with-claude/effort`,
  ],
  [
    ['*claude-3-haiku*', '*claude-3-opus*', '*claude-3-sonnet*', '*claude-3[-.]5*', '*claude-2*', '*claude-instant*'],
    {
      ...{ thinking: 'none', efforts: [], thinkingOff: 'omitted' },
      ...{ sampling: true, forcedTools: true },
    },
    `${CLAUDE}/build-with-claude/extended-thinking`,
  ],
  [
    ['*claude-3*', '*claude-opus-4*', '*claude-sonnet-4*', '*claude-haiku-4*'],
    {
      ...{ thinking: 'budget', efforts: UP_TO_MAX, thinkingOff: 'omitted' },
      ...{ sampling: true, forcedTools: true },
    },
    `${CLAUDE}/build-with-claude/extended-thinking`,
  ],
];

const REASONING = `${OPENAI}/guides/reasoning`;

const CHAT: readonly Row[] = [
  [['*gpt-5-chat*', '*gpt-5.?-chat*', '*gpt-4*', '*gpt-3.5*', '*chatgpt-4o*'], { efforts: [] }, REASONING],
  [['*gpt-5-pro*'], { efforts: ['high'] }, `${OPENAI}/models/gpt-5-pro`],
  [['*gpt-5.1-codex-max*'], { efforts: ['none', 'medium', 'high', 'xhigh'] }, `${OPENAI}/models/gpt-5.1-codex-max`],
  [['*gpt-5.1*'], { efforts: ['none', 'low', 'medium', 'high'] }, REASONING],
  [['*gpt-5.[2-5]*'], { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] }, REASONING],
  [['*gpt-5.[6-9]*'], { efforts: ['none', ...UP_TO_MAX], effortWithTools: false }, REASONING],
  [['*gpt-5', '*gpt-5-*'], { efforts: ['minimal', 'low', 'medium', 'high'] }, REASONING],
  [['*gpt-oss*', 'o[1-9]', 'o[1-9]-*', '*/o[1-9]', '*/o[1-9]-*'], { efforts: ['low', 'medium', 'high'] }, REASONING],
  [['*gpt-[6-9]*'], { efforts: UP_TO_MAX, effortWithTools: false }, REASONING],
  [
    ['*mistral*', '*ministral*', '*codestral*', '*devstral*', '*pixtral*'],
    { limit: 'max_tokens', efforts: [] },
    'https://docs.mistral.ai/api',
  ],
  [['deepseek-*'], { limit: 'max_tokens', efforts: [] }, 'https://api-docs.deepseek.com/api/create-chat-completion'],
];

const rowsOf = (provider: KnownModel['provider'], rows: readonly Row[]): readonly KnownModel[] =>
  rows.map(([patterns, traits, source]) => ({ provider, patterns, traits, source, read: READ }));

export const KNOWN_MODELS: readonly KnownModel[] = [
  ...rowsOf('provider_messages', MESSAGES),
  ...rowsOf('provider_chat', CHAT),
];
