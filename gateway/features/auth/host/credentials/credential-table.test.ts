import { describe, expect, it, vi } from 'vitest';
import { CredentialTable } from './capability.ts';

const entry = (secret: string, index: number) => ({ at: `config /keys/${index}`, property: 'key', secret, name: '' });

describe('a table of API keys', () => {
  it('compares digests of a fixed length, however much of a key is right', () => {
    const keys = ['k-alice-0123456789', 'k-bob'];
    const asked: unknown[] = [];
    // What is looked up is all that the time of a lookup can depend on.
    const get = vi.spyOn(Map.prototype, 'get').mockImplementation(function (this: Map<unknown, unknown>, key) {
      asked.push(key);
      return [...this].find(([each]) => each === key)?.[1];
    });
    const table = new CredentialTable(keys.map(entry));
    const again = new CredentialTable(keys.map(entry));
    asked.length = 0;
    const guesses = ['x', 'k', 'k-alice-', 'k-alice-012345678', 'k-alice-0123456789', 'k-alice-01234567890'];
    const found = guesses.map((guess) => table.find(guess));
    again.find('k-bob');
    get.mockRestore();
    expect(found).toEqual([-1, -1, -1, -1, 0, -1]);
    expect(asked).toHaveLength(guesses.length + 1);
    for (const key of asked) expect(key).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    // Neighbours in what is guessed are none in what is looked up.
    const prefixes = new Set(asked.map((key) => String(key).slice(0, 4)));
    expect(prefixes.size).toBe(asked.length);
  });
});
