/** A few hundred random connections beside nginx; `fuzz-beside-nginx.ts` runs a hundred thousand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../property-runs.ts';
import { CASES } from './cases.ts';
import { fuzz, KNOWN, LAXER, SideBySide } from './fuzz.ts';
import { NGINX } from './nginx.ts';
import { DIFFERENCES } from './nginx-differences.ts';

/** Cases of `npm run test:long`; more take minutes. */
const MOST_CASES = 20_000;

describe.skipIf(!NGINX && process.env['GW_NO_SKIP'] !== '1')('random connections (needs nginx)', () => {
  let sides: SideBySide;
  beforeAll(async () => {
    sides = await SideBySide.start();
  });
  afterAll(() => sides?.stop());

  it('are framed as nginx frames them, where both accept them', async () => {
    const { numRuns, seed } = propertyRuns(400);
    const report = await fuzz(sides, Math.min(numRuns, MOST_CASES), seed);
    expect(report.differences).toEqual([]);
    // Else hardly anything is compared.
    expect(report.alike).toBeGreaterThan(report.cases / 6);
    expect(sides.gateway.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('differences that are known', () => {
  it('are in docs/http.md, by cases of the suite', () => {
    const documented = new Set(DIFFERENCES.flatMap(({ cases }) => cases));
    for (const { shownBy, holds } of [...KNOWN, ...LAXER]) {
      expect(documented, shownBy).toContain(shownBy);
      expect(holds(CASES.find(({ name }) => name === shownBy)?.bytes ?? ''), shownBy).toBe(true);
    }
  });
});
