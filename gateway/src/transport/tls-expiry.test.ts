/** Warnings before a certificate expires, by a clock that the test moves. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KeyPair } from './tls.ts';
import { expiryOf, watchExpiry } from './tls-expiry.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const OPENSSL: boolean = (() => {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8' }).startsWith('OpenSSL');
  } catch {
    return false;
  }
})();

describe.skipIf(!OPENSSL && process.env['GW_NO_SKIP'] !== '1')('the expiry of certificates (needs openssl)', () => {
  let dir: string;
  const pairs = new Map<number, KeyPair>();
  const pairOf = (days: number): KeyPair => {
    const pair = pairs.get(days);
    if (!pair) throw new Error(`there is no certificate for ${days} days`);
    return pair;
  };
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-expiry-'));
    for (const days of [20, 90]) {
      const [cert, key] = [join(dir, `${days}.crt`), join(dir, `${days}.key`)];
      const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=a'];
      execFileSync('openssl', ['req', '-x509', ...kind, '-days', String(days), '-keyout', key, '-out', cert], {
        stdio: 'pipe',
      });
      pairs.set(days, { cert: readFileSync(cert), key: readFileSync(key) });
    }
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is the end of validity, in Unix seconds', () => {
    expect(Math.abs(expiryOf(pairOf(20)) - (Date.now() + 20 * DAY_MS) / 1000)).toBeLessThan(120);
  });

  it('is warned of every day from 14 days before, and when it has passed, until there is another', () => {
    const said: string[] = [];
    const watch = watchExpiry(pairOf(20), ({ message }) => said.push(message));
    vi.advanceTimersByTime(5 * DAY_MS);
    expect(said).toEqual([]);
    vi.advanceTimersByTime(3 * DAY_MS);
    expect(said.length).toBeGreaterThanOrEqual(2);
    expect(said.every((each) => each.includes('expires soon'))).toBe(true);
    vi.advanceTimersByTime(13 * DAY_MS);
    expect(said.at(-1)).toContain('has expired');
    const before = said.length;
    watch.use(pairOf(90));
    vi.advanceTimersByTime(10 * DAY_MS);
    expect(said).toHaveLength(before);
    watch.stop();
    vi.advanceTimersByTime(90 * DAY_MS);
    expect(said).toHaveLength(before);
  });
});
