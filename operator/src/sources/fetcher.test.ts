/** How sources are looked at: again each interval, with back-off, a few at a time, within a budget. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { type FetchSource, SourceFetcher } from './fetcher.ts';
import { type Fetched, type FetchedSource, SourceError, type SourceOwner, type UrlRequest } from './source.ts';

const owner = (name: string, namespace = 'shop'): SourceOwner => ({ kind: 'ApiSpec', namespace, name });
const request = (more: Partial<UrlRequest> = {}): UrlRequest => ({
  type: 'url',
  url: 'https://example.org/a.yaml',
  intervalSeconds: 10,
  ...more,
});

function content(text: string): Fetched {
  return { digest: text, files: new Map([['a.yaml', Buffer.from(text)]]), size: text.length };
}

function source(text: string, final = false): FetchedSource {
  return { content: content(text), fetchedAt: new Date(), final };
}

let opened: SourceFetcher[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const fetcher of opened) fetcher.close();
  opened = [];
});

function fetcherOf(fetch: FetchSource, maxBytes = 1000): SourceFetcher {
  const fetcher = new SourceFetcher({ fetch, maxBytes });
  opened.push(fetcher);
  return fetcher;
}

const digest = (fetcher: SourceFetcher, of: SourceOwner, asked = request()) => {
  const state = fetcher.look(of, asked);
  return state.state === 'fetched' ? state.source.content.digest : state.state;
};
const problem = (fetcher: SourceFetcher, of: SourceOwner, asked = request()) => {
  const state = fetcher.look(of, asked);
  return 'problem' in state ? state.problem?.message : undefined;
};

describe('a source', () => {
  it('is fetched beside whoever asks, who is told when it is there', async () => {
    vi.useFakeTimers();
    const told: string[] = [];
    const fetcher = fetcherOf(async () => source('one', true));
    fetcher.onChange(({ name }) => told.push(name));
    expect(digest(fetcher, owner('a'))).toBe('fetching');
    await vi.advanceTimersByTimeAsync(0);
    expect([digest(fetcher, owner('a')), told]).toEqual(['one', ['a']]);
    // What is final is not looked at again.
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(told).toEqual(['a']);
  });

  it('is looked at again each interval, and only news are told', async () => {
    vi.useFakeTimers();
    let now = source('one');
    let looks = 0;
    const told: string[] = [];
    const fetcher = fetcherOf(async (_, __, before) => {
      looks++;
      return before?.content.digest === now.content.digest ? before : now;
    });
    fetcher.onChange(({ name }) => told.push(name));
    fetcher.look(owner('a'), request());
    await vi.advanceTimersByTimeAsync(31_000);
    expect([looks >= 3, told.length]).toEqual([true, 1]);
    now = source('two');
    await vi.advanceTimersByTimeAsync(11_000);
    expect([digest(fetcher, owner('a')), told.length]).toEqual(['two', 2]);
  });

  it('that is away leaves what was fetched before, comes back ever later, and is used when it is there', async () => {
    vi.useFakeTimers();
    let isAway = false;
    let looks = 0;
    const fetcher = fetcherOf(async () => {
      looks++;
      if (isAway) throw new SourceError('SourceUnavailable', 'it is away');
      return source('one');
    });
    fetcher.look(owner('a'), request());
    await vi.advanceTimersByTimeAsync(0);
    isAway = true;
    await vi.advanceTimersByTimeAsync(11_000);
    expect([digest(fetcher, owner('a')), problem(fetcher, owner('a'))]).toEqual(['one', 'it is away']);
    const before = looks;
    await vi.advanceTimersByTimeAsync(3_600_000);
    // Two seconds at first, five minutes at most.
    expect(looks - before).toBeGreaterThan(10);
    expect(looks - before).toBeLessThan(40);
    isAway = false;
    await vi.advanceTimersByTimeAsync(301_000);
    expect([digest(fetcher, owner('a')), problem(fetcher, owner('a'))]).toEqual(['one', undefined]);
  });

  it('that is another now is fetched anew; the answer to the old question comes to nothing', async () => {
    const answers: ((of: FetchedSource) => void)[] = [];
    const fetcher = fetcherOf(() => new Promise((resolve) => answers.push(resolve)));
    fetcher.look(owner('a'), request());
    const changed = request({ url: 'https://example.org/b.yaml' });
    expect(digest(fetcher, owner('a'), changed)).toBe('fetching');
    answers[0]?.(source('old'));
    answers[1]?.(source('new'));
    await eventually(() => expect(digest(fetcher, owner('a'), changed)).toBe('new'));
    expect(fetcher.used).toBe(3);
  });

  it('that answers slowly holds up no other namespace', async () => {
    const begun: string[] = [];
    const fetcher = fetcherOf((of) => {
      begun.push(`${of.namespace}/${of.name}`);
      return of.namespace === 'slow' ? new Promise(() => undefined) : Promise.resolve(source(of.name, true));
    });
    for (let i = 0; i < 20; i++) fetcher.look(owner(`s${i}`, 'slow'), request());
    for (let i = 0; i < 20; i++) fetcher.look(owner(`q${i}`, 'quick'), request());
    await eventually(() => expect(begun.filter((each) => each.startsWith('quick'))).toHaveLength(20));
    expect(begun.filter((each) => each.startsWith('slow'))).toHaveLength(2);
  });
});

describe('what is kept', () => {
  it('is each content once, as long as somebody has it', async () => {
    const fetcher = fetcherOf(async () => source('same', true));
    for (const name of ['a', 'b']) fetcher.look(owner(name), request());
    await eventually(() => expect(digest(fetcher, owner('b'))).toBe('same'));
    expect(fetcher.used).toBe(4);
    fetcher.forget(owner('a'));
    expect(fetcher.used).toBe(4);
    fetcher.forget(owner('b'));
    expect(fetcher.used).toBe(0);
  });

  it('stays within the budget; what has no room says so, and what is there stays', async () => {
    const fetcher = fetcherOf(async ({ name }) => source(name.repeat(600), true));
    fetcher.look(owner('a'), request());
    await eventually(() => expect(digest(fetcher, owner('a'))).toMatch(/^a/));
    fetcher.look(owner('b'), request());
    await eventually(() => expect(problem(fetcher, owner('b'))).toContain('--source-cache'));
    expect([digest(fetcher, owner('a')).slice(0, 1), fetcher.used]).toEqual(['a', 600]);
  });

  it('leaves room for every other namespace, however much one has', async () => {
    // 32 MiB each, as large as a source may be, in a budget of 256: here a byte is 64 KiB.
    const fetcher = fetcherOf(
      async ({ namespace, name }) => source(`${namespace}/${name}`.padEnd(512, '.'), true),
      4096,
    );
    const names = Array.from({ length: 8 }, (_, i) => `s${i}`);
    for (const name of names) fetcher.look(owner(name, 'greedy'), request());
    const kept = () => names.filter((name) => digest(fetcher, owner(name, 'greedy')).startsWith('greedy/'));
    await eventually(() => {
      expect(kept()).toHaveLength(6);
      expect(names.filter((name) => problem(fetcher, owner(name, 'greedy'))?.includes('--source-cache'))).toHaveLength(
        2,
      );
    });
    fetcher.look(owner('one', 'other'), request());
    await eventually(() => expect(digest(fetcher, owner('one', 'other'))).toMatch(/^other/));
    expect([kept().length, fetcher.used]).toEqual([6, 7 * 512]);
  });
});
