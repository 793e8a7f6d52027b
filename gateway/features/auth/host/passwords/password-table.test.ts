import { describe, expect, it } from 'vitest';
import { Crowded, FairQueue } from '../../../../src/shares/fair-queue.ts';
import type { PasswordHash } from './password-hash.ts';
import { passwordHash } from './password-hash.ts';
import { NOBODY, PasswordTable, REMEMBERED_MS } from './password-table.ts';

const OWNER = ['192.0.2.1'];

/** A slow hash that says when it is asked, and answers when it is told to. */
class Counted implements PasswordHash {
  readonly slow = true;
  asked = 0;
  readonly #password: string;
  readonly #gate: Promise<void>;

  constructor(password: string, gate: Promise<void> = Promise.resolve()) {
    this.#password = password;
    this.#gate = gate;
  }

  async matches(password: string): Promise<boolean> {
    this.asked++;
    await this.#gate;
    return password === this.#password;
  }
}

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('a table of passwords', () => {
  it('tells whose name and password they are, and nobody else', async () => {
    const table = new PasswordTable([
      { name: 'alice', hash: passwordHash('one') },
      { name: 'bob', hash: new Counted('two') },
    ]);
    expect(await table.verify('alice', 'one', OWNER)).toBe(0);
    expect(await table.verify('bob', 'two', OWNER)).toBe(1);
    for (const [name, password] of [
      ['alice', 'two'],
      ['bob', 'one'],
      ['carol', 'one'],
      ['carol', 'two'],
      ['', ''],
      ['alic', 'eone'],
    ] as const) {
      expect(await table.verify(name, password, OWNER)).toBe(NOBODY);
    }
    expect(await new PasswordTable([]).verify('alice', 'one', OWNER)).toBe(NOBODY);
  });

  it('verifies a hash for a name that nobody has too', async () => {
    const hash = new Counted('one');
    const table = new PasswordTable([{ name: 'alice', hash }]);
    expect(await table.verify('mallory', 'one', OWNER)).toBe(NOBODY);
    expect(hash.asked).toBe(1);
  });

  it('verifies the same once in its time, and at the same time once', async () => {
    let now = 0;
    const hash = new Counted('one');
    const table = new PasswordTable([{ name: 'alice', hash }], { now: () => now });
    const all = await Promise.all(Array.from({ length: 50 }, () => table.verify('alice', 'one', OWNER)));
    expect(new Set(all)).toEqual(new Set([0]));
    expect(hash.asked).toBe(1);
    expect(table.verify('alice', 'one', OWNER)).toBe(0);
    expect(await table.verify('alice', 'wrong', OWNER)).toBe(NOBODY);
    expect(table.verify('alice', 'wrong', OWNER)).toBe(NOBODY);
    expect(hash.asked).toBe(2);
    now += REMEMBERED_MS;
    expect(await table.verify('alice', 'one', OWNER)).toBe(0);
    expect(hash.asked).toBe(3);
  });

  it('lets few hashes run at once, and no endless queue wait; passwords in plain text pass by', async () => {
    const { open, opened } = gate();
    const hash = new Counted('one', opened);
    const queue = new FairQueue({ atOnce: 2, mostWaiting: 3, mostMs: 60_000 });
    const table = new PasswordTable([{ name: 'alice', hash }], { queue });
    const asked = Array.from({ length: 6 }, (_, i) => Promise.resolve(table.verify('alice', `wrong ${i}`, OWNER)));
    await expect(asked[5]).rejects.toThrow(Crowded);
    expect(hash.asked).toBe(2);
    const plain = new PasswordTable([{ name: 'bob', hash: passwordHash('two') }], { queue });
    expect(plain.verify('bob', 'two', OWNER)).toBe(0);
    open();
    expect(await Promise.all(asked.slice(0, 5))).toEqual(Array(5).fill(NOBODY));
    expect(await table.verify('alice', 'one', OWNER)).toBe(0);
  });

  it('forgets a verification that failed for another reason than the password', async () => {
    let broken = true;
    const hash: PasswordHash = {
      slow: true,
      matches: async () => {
        if (broken) throw new Error('no memory');
        return true;
      },
    };
    const table = new PasswordTable([{ name: 'alice', hash }]);
    await expect(table.verify('alice', 'one', OWNER)).rejects.toThrow('no memory');
    broken = false;
    expect(await table.verify('alice', 'one', OWNER)).toBe(0);
  });
});
