/** One sliding window: who took when, and what is leased to workers (docs/decisions.md#quota-leases). */
import { EXACT_QUOTA, type RateLimitResult } from './rate-limit-store.ts';

const NO_TIMES = new Float64Array(0);
const NO_COUNTS = new Uint32Array(0);

/** A part of a quota that a worker takes from by itself. */
export interface BucketLease {
  readonly permits: number;
  readonly windowMs: number;
}

/** Permits that were used from a first time to a last one, within half a grain of their window. */
export type Uses = readonly [first: number, last: number, count: number];

/** A ring of times and how many requests came at each. */
export class Bucket {
  #times = new Float64Array(2);
  #counts = new Uint32Array(2);
  #head = 0;
  #length = 0;
  #total = 0;
  #isClosed = false;
  /** Permits in leases: they count as taken. */
  #leased = 0;
  /** Time at which the whole quota is there again, but for leases; milliseconds since the epoch, as all times. */
  #resetsAt = 0;
  /** Time at which the bucket is empty, whatever is done with its leases. */
  emptyAt = 0;

  /** Permits in leases that are not settled. */
  get leased(): number {
    return this.#leased;
  }

  /**
   * Closes the bucket, which then keeps only its end: until then it allows nothing. Returns false if that has passed.
   */
  close(now: number): boolean {
    this.#isClosed = true;
    this.#times = NO_TIMES;
    this.#counts = NO_COUNTS;
    return this.emptyAt > now;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** It was closed, and its window has passed. */
  isOver(now: number): boolean {
    return this.#isClosed && this.emptyAt <= now;
  }

  take(now: number, quota: number, windowMs: number): RateLimitResult {
    if (this.#isClosed) {
      const [resetAt, retryAfter] = [this.emptyAt / 1000, Math.max(0, this.emptyAt - now) / 1000];
      return { allowed: false, remaining: 0, resetAt, retryAfter };
    }
    const grain = grainOf(quota, windowMs);
    const lasts = windowMs + grain;
    this.#expire(now - lasts);
    const allowed = this.#total + this.#leased < quota;
    if (allowed) {
      this.#add(now, grain);
      this.#resetsAt = now + lasts;
      this.emptyAt = Math.max(this.emptyAt, this.#resetsAt);
    }
    const oldest = this.#times[this.#head] ?? now;
    return {
      allowed,
      remaining: this.#left(quota),
      resetAt: (this.#length === 0 ? now : this.#resetsAt) / 1000,
      retryAfter: allowed ? 0 : Math.max(0, oldest + lasts - now) / 1000,
    };
  }

  /** Permits that are neither taken nor leased. */
  left(now: number, quota: number, windowMs: number): number {
    this.#expire(now - windowMs - grainOf(quota, windowMs));
    return this.#left(quota);
  }

  #left(quota: number): number {
    return Math.max(0, quota - this.#total - this.#leased);
  }

  /** Leases permits that are left, until a time. */
  lease(permits: number, quota: number, windowMs: number, until: number): BucketLease {
    this.#leased += permits;
    this.emptyAt = Math.max(this.emptyAt, until + windowMs + grainOf(quota, windowMs));
    return { permits, windowMs };
  }

  /** Ends a lease: unused permits are left again. */
  settle({ permits, windowMs }: BucketLease, used: readonly Uses[]): void {
    if (this.#isClosed) return;
    this.#leased -= permits;
    const grain = windowMs / EXACT_QUOTA;
    for (const uses of used) {
      this.#insert(uses, grain);
      this.#resetsAt = Math.max(this.#resetsAt, uses[1] + windowMs + grain);
    }
    if (this.#leased === 0) this.emptyAt = this.#resetsAt;
  }

  #expire(before: number): void {
    const mask = this.#times.length - 1;
    while (this.#length > 0 && (this.#times[this.#head] ?? 0) <= before) {
      this.#total -= this.#counts[this.#head] ?? 0;
      this.#head = (this.#head + 1) & mask;
      this.#length--;
    }
  }

  #add(now: number, grain: number): void {
    if (this.#length > 0 && now - this.#timeAt(this.#length - 1) <= grain) this.#increase(this.#length - 1, 1);
    else this.#append(now, 1);
  }

  #append(time: number, count: number): void {
    if (this.#length === this.#times.length) this.#grow();
    const next = (this.#head + this.#length) & (this.#times.length - 1);
    this.#total += count;
    this.#times[next] = time;
    this.#counts[next] = count;
    this.#length++;
  }

  /** Counts uses at a time that holds for all of them, if there is one, or at a slightly later one. */
  #insert([first, last, count]: Uses, grain: number): void {
    let at = this.#length;
    while (at > 0 && this.#timeAt(at - 1) > first) at--;
    if (at > 0 && last - this.#timeAt(at - 1) <= grain) return this.#increase(at - 1, count);
    if (at < this.#length && this.#timeAt(at) - first <= grain) return this.#increase(at, count);
    this.#append(first, count);
    for (let i = this.#length - 1; i > at; i--) this.#swap(this.#indexOf(i), this.#indexOf(i - 1));
  }

  #increase(position: number, count: number): void {
    const index = this.#indexOf(position);
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
    this.#total += count;
  }

  #indexOf(position: number): number {
    return (this.#head + position) & (this.#times.length - 1);
  }

  #timeAt(position: number): number {
    return this.#times[this.#indexOf(position)] ?? 0;
  }

  #swap(one: number, other: number): void {
    const [time, count] = [this.#times[one] ?? 0, this.#counts[one] ?? 0];
    this.#times[one] = this.#times[other] ?? 0;
    this.#counts[one] = this.#counts[other] ?? 0;
    this.#times[other] = time;
    this.#counts[other] = count;
  }

  #grow(): void {
    const size = this.#times.length;
    const times = new Float64Array(size * 2);
    const counts = new Uint32Array(size * 2);
    for (let i = 0; i < this.#length; i++) {
      const from = (this.#head + i) & (size - 1);
      times[i] = this.#times[from] ?? 0;
      counts[i] = this.#counts[from] ?? 0;
    }
    this.#times = times;
    this.#counts = counts;
    this.#head = 0;
  }
}

/** Milliseconds to which times are kept. */
export function grainOf(quota: number, windowMs: number): number {
  return quota <= EXACT_QUOTA ? 0 : windowMs / EXACT_QUOTA;
}
