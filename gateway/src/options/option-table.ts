/** Entries of the table of `gw serve` options, and the values of each type. */
import type { ListenAddress } from '../transport/listen-address.ts';

interface Common {
  /** As the help says it: no capital, no full stop; the unit and the default are added. */
  readonly help: string;
  /** Part that applies a change without a restart; absent if a restart is needed. */
  readonly reloads?: string;
  /** The row of the limits in docs/production.md that it is part of. */
  readonly limits?: string;
  /**
   * A field of `spec.serve` of a GatewayProject and of `serve` in the chart's values, or the reason why the option has
   * no field.
   */
  readonly pods: PodField | string;
}

export interface PodField {
  /** Default that is filled in there; absent: the program's own holds. */
  readonly default?: string | number;
  /** In place of the entry's. */
  readonly help?: string;
}

/** A whole number. `auto`: the word is allowed as well, and is the number of CPUs. */
interface IntegerOption extends Common {
  readonly type: 'integer';
  readonly unit: 'bytes' | 'count' | 'ms' | 'port';
  readonly minimum: number;
  readonly maximum?: number;
  readonly default?: number;
  readonly auto?: true;
}

/** Seconds, with fractions. */
interface SecondsOption extends Common {
  readonly type: 'seconds';
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
}

/** A number from 0 to 1. */
interface ShareOption extends Common {
  readonly type: 'share';
  readonly default: number;
}

/** Off unless it is given; `--dev`, `--dev=false`. */
interface FlagOption extends Common {
  readonly type: 'flag';
}

/** `--expose-health=false`. */
interface BooleanOption extends Common {
  readonly type: 'boolean';
  readonly default: boolean;
}

interface ChoiceOption extends Common {
  readonly type: 'choice';
  /** The placeholder in the help. */
  readonly value: string;
  readonly choices: readonly string[];
  readonly default: string;
}

interface TextOption extends Common {
  readonly type: 'text';
  readonly value: string;
  /** A regular expression, with the message for values that do not match it. */
  readonly pattern?: string;
  readonly say?: string;
  readonly default?: string;
}

/** Repeatable, and comma-separated. Default: none. */
interface ListOption extends Common {
  readonly type: 'list';
  readonly value: string;
}

/** Host and port. `off`: the word is allowed as well. */
interface AddressOption extends Common {
  readonly type: 'address';
  readonly default: string;
  readonly off?: true;
}

export type OptionEntry =
  | IntegerOption
  | SecondsOption
  | ShareOption
  | FlagOption
  | BooleanOption
  | ChoiceOption
  | TextOption
  | ListOption
  | AddressOption;

export type OptionTable = Readonly<Record<string, OptionEntry>>;

type ValueOf<E> = E extends { readonly type: 'integer' | 'seconds' | 'share' }
  ? number
  : E extends { readonly type: 'flag' | 'boolean' }
    ? boolean
    : E extends { readonly type: 'choice'; readonly choices: readonly (infer C)[] }
      ? C
      : E extends { readonly type: 'list' }
        ? readonly string[]
        : E extends { readonly type: 'address'; readonly off: true }
          ? ListenAddress | null
          : E extends { readonly type: 'address' }
            ? ListenAddress
            : string;

/** Entries that always have a value. */
type Given<E> = E extends { readonly default: unknown } | { readonly type: 'flag' | 'list' } ? E : never;

/** The values of all entries of a table, as a command line reads them. */
export type ValuesOf<T> = {
  readonly [N in keyof T as Given<T[N]> extends never ? never : N]: ValueOf<T[N]>;
} & {
  readonly [N in keyof T as Given<T[N]> extends never ? N : never]?: ValueOf<T[N]> | undefined;
};

/** `maxBodySize` is `--max-body-size`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `--max-body-size` can come from GW_MAX_BODY_SIZE (docs/decisions.md#precedence). */
export function variableName(flag: string): string {
  return `GW_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`;
}
