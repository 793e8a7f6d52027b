/** The regression tests of the exclusion packages, sent over HTTP to a gateway (docs/reference/plugins.md#waf). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import schema from '../../gateway/features/waf/plugins/waf/config-schema.json' with { type: 'json' };
import { CRS } from '../../gateway/features/waf/seclang/crs.test-support.ts';
import { readCorpus } from './corpus.ts';
import { others, runCases } from './corpus-outcomes.ts';

/** Milliseconds for all cases. */
const LONG = 600_000;

const AS_FORM = 'CRS reads a body of an unknown type as a form, as Coraza does: the package excludes the raw body only';
/** Cases that gw answers otherwise than the tests expect, each with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {
  '9507350-5': 'RFC 9110, 7.2: a Host header with spaces is refused before rules run',
  '9508320-1': AS_FORM,
  '9508320-3': AS_FORM,
  '9508320-4': AS_FORM,
  '9508330-1': AS_FORM,
  '9508540-1': AS_FORM,
  '9508540-2': AS_FORM,
  '9508556-1': 'RFC 9112, 3.2: a request with two Host headers is refused before rules run',
};

const PACKAGES = schema.properties.exclusion_packages.items.enum;

describe('the exclusion packages', () => {
  it('are those that the config may name', () => {
    const files = readdirSync(join(CRS, 'plugins'));
    const names = files.map((file) => file.slice(0, file.indexOf('-rule-exclusions-')));
    expect([...new Set(names)].sort()).toEqual(PACKAGES);
  });
});

describe('the regression tests of the exclusion packages', async () => {
  const corpus = await readCorpus('exclusions');
  const packageOf = ({ file }: { readonly file: string }) => file.slice(0, file.indexOf('/'));
  // These have one test each.
  const small = PACKAGES.filter((name) => corpus.filter((each) => packageOf(each) === name).length === 1);

  it.each([['nextcloud'], ['phpmyadmin'], ['wordpress'], small])(
    'pass at paranoia level 4 with %s, but for those that are named here',
    { timeout: LONG },
    async (...packages) => {
      const cases = corpus.filter((each) => packages.includes(packageOf(each)));
      const failed = others(await runCases(cases, { level: 4, packages }));
      const expected = cases.map(({ id }) => id).filter((id) => DIFFERENT[id] !== undefined);
      expect(failed.filter(([id]) => !expected.includes(id))).toEqual([]);
      expect(failed.map(([id]) => id).sort()).toEqual(expected.sort());
    },
  );

  it('fail without the packages, most of them', { timeout: LONG }, async () => {
    const failed = others(await runCases(corpus, { level: 4 }));
    expect(corpus).toHaveLength(445);
    expect(failed.length).toBeGreaterThan(0.6 * corpus.length);
  });
});
