import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectionsWithin, openFileLimit, upstreamCallsWithin } from './open-files.ts';

describe('limit of open files', () => {
  it('is read from what the system says of the process', () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-limits-'));
    const file = join(dir, 'limits');
    writeFileSync(file, 'Limit  Soft Limit  Hard Limit  Units\nMax open files            1024      4096      files\n');
    expect(openFileLimit(file)).toBe(1024);
    writeFileSync(file, 'Max open files            unlimited            unlimited            files\n');
    expect(openFileLimit(file)).toBe(Number.POSITIVE_INFINITY);
    expect(openFileLimit(join(dir, 'none'))).toBe(Number.POSITIVE_INFINITY);
    rmSync(dir, { recursive: true });
  });

  it('leaves room for both sides of a request', () => {
    expect(connectionsWithin(10_000, 1, 1024)).toBe(512);
    expect(connectionsWithin(10_000, 4, 1024)).toBe(2048);
    expect(connectionsWithin(10_000, 1, 1_048_576)).toBe(10_000);
    expect(upstreamCallsWithin(10_000, 1, 1024)).toBe(204);
    expect(upstreamCallsWithin(10_000, 2, 1_048_576)).toBe(5000);
    expect(upstreamCallsWithin(1, 4, 1024)).toBe(1);
  });
});
