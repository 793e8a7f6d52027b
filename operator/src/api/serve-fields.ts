/** Fields of `spec.serve`, from the table of `gw serve` options: those that are one for pods. */
import { describeOption, type OptionEntry, type PodField, SERVE_OPTIONS } from '@gw/gateway/serve-options';
import type { Schema } from './schema.ts';

type Table = typeof SERVE_OPTIONS;

type TypeOf<E> = E extends { readonly type: 'integer' }
  ? { readonly type: 'integer' }
  : E extends { readonly type: 'seconds' | 'share' }
    ? { readonly type: 'number' }
    : E extends { readonly type: 'flag' | 'boolean' }
      ? { readonly type: 'boolean' }
      : E extends { readonly type: 'choice'; readonly choices: infer C }
        ? { readonly enum: C }
        : E extends { readonly type: 'list' }
          ? { readonly type: 'array'; readonly items: { readonly type: 'string' } }
          : { readonly type: 'string' };

type DefaultOf<E> = E extends { readonly pods: { readonly default: infer D } } ? { readonly default: D } : unknown;

type Fields = {
  readonly [N in keyof Table as Table[N] extends { readonly pods: string } ? never : N]: Schema &
    TypeOf<Table[N]> &
    DefaultOf<Table[N]>;
};

export const serveFields = Object.fromEntries(
  Object.entries<OptionEntry>(SERVE_OPTIONS).flatMap(([name, entry]) =>
    typeof entry.pods === 'string' ? [] : [[name, schemaOf(entry, entry.pods)]],
  ),
) as Fields;

/** `serve.state.timeoutMs`. */
export const stateTimeoutMs = {
  ...schemaOf(SERVE_OPTIONS.stateTimeoutMs, {}),
  type: 'integer',
} as const satisfies Schema;

function schemaOf(entry: OptionEntry, pods: PodField): Schema {
  return {
    ...typeOf(entry),
    ...(pods.default === undefined ? {} : { default: pods.default }),
    description: describeOption(entry, pods.help, pods.default === undefined),
  };
}

function typeOf(entry: OptionEntry): Schema {
  switch (entry.type) {
    case 'integer': {
      const { minimum, maximum } = entry;
      return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) };
    }
    case 'seconds':
      return { type: 'number', minimum: entry.minimum, maximum: entry.maximum };
    case 'share':
      return { type: 'number', minimum: 0, maximum: 1 };
    case 'flag':
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { type: 'string', enum: entry.choices };
    case 'list':
      return {
        type: 'array',
        maxItems: 100,
        'x-kubernetes-list-type': 'set',
        items: { type: 'string', minLength: 1, maxLength: 64 },
      };
    default:
      return { type: 'string', minLength: 1, maxLength: 1024 };
  }
}
