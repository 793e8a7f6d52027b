import { Random } from '../../gateway/src/examples/random.ts';

/** The same choices for the same seed. */
export class SeededRandom extends Random {
  constructor(seed: number) {
    super(String(seed));
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  /** `from`: at least one. */
  override pick<T>(from: readonly T[]): T {
    return super.pick(from) as T;
  }
}
