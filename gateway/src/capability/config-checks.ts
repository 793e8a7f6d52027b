/** Checks of configs that features bring, for the compiler. */
import type { CREDENTIAL_KINDS } from '../artifact/format.ts';

/** Throws an Error, with line and column in the expression, if it is malformed. */
export type ReadCondition = (text: string) => {
  readonly headers: ReadonlySet<string>;
  /** Members of `request` that it reads. */
  readonly parts: ReadonlySet<string>;
};

export interface ConfigFeatures {
  /** Reports whether a text of a config is a hash, by the kind of its credential. */
  readonly isHash: { readonly [Kind in Exclude<(typeof CREDENTIAL_KINDS)[number], 'hmac'>]: (text: string) => boolean };
  /** Loads the compiler of CEL conditions, which takes longer than compiling a small project. */
  readonly loadConditions: () => Promise<ReadCondition>;
}
