/** The Core Rule Set as it ships: unchanged, read whole, with the vocabulary that the engine knows. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CRS, coreFiles, readCoreData, recommendedFile } from './crs.test-support.ts';
import { parseSecLang } from './parse.ts';
import { decodeProgram, encodeProgram } from './program-format.ts';
import { resolveProgram } from './resolve.ts';
import { usageOf } from './usage.test-support.ts';

const parsed = coreFiles().map((file) => parseSecLang(file, readCoreData));
const { program, diagnostics } = resolveProgram(parsed);

describe('the files', () => {
  it('are those of the pinned module', () => {
    const listed = readFileSync(join(CRS, 'sha256sums.txt'), 'utf8').trim().split('\n');
    const hashes = globSync('**', { cwd: CRS, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'sha256sums.txt' && entry.name !== 'NOTICE')
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
        return `${hash}  ${path.slice(CRS.length + 1)}`;
      });
    expect(hashes.sort()).toEqual(listed.toSorted());
  });

  it('have their licence and notice', () => {
    expect(readFileSync(join(CRS, 'LICENSE'), 'utf8')).toContain('Apache License');
    expect(readFileSync(join(CRS, 'NOTICE'), 'utf8')).toContain('OWASP CRS 4.25.0');
  });
});

describe('the rules', () => {
  it('are read without a diagnostic', () => {
    expect(diagnostics).toEqual([]);
    expect(program?.rules).toHaveLength(626);
  });

  it('use the vocabulary in crs-usage.golden.txt', async () => {
    await expect(usageOf(program!)).toMatchFileSnapshot('crs-usage.golden.txt');
  });

  it('are the same after encoding, in less than half a megabyte', () => {
    const bytes = encodeProgram(program!);
    expect(decodeProgram(bytes)).toEqual(program);
    expect(Buffer.from(encodeProgram(decodeProgram(bytes))).equals(bytes)).toBe(true);
    expect(bytes.length).toBeLessThan(500_000);
  });

  it('follow the recommended rules for bodies, of which only settings of files and logs have no effect', () => {
    const recommended = parseSecLang(recommendedFile(), readCoreData);
    const { program: both, diagnostics: found } = resolveProgram([recommended, ...parsed]);
    expect(both?.rules.map(({ id }) => id).slice(0, 5)).toEqual([200000, 200001, 200006, 200002, 200003]);
    expect(found.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      'warning: SecRequestBodyInMemoryLimit has no effect',
      'warning: SecDataDir has no effect',
      'warning: SecAuditLogParts has no effect',
      'warning: SecAuditLogType has no effect',
      'warning: SecAuditLogFormat has no effect',
    ]);
  });

  it('jump over those of higher paranoia levels', () => {
    const index = program!.rules.findIndex(({ id }) => id === 942011);
    const { jump } = program!.rules[index]!;
    expect(program!.rules[jump!]!.id).toBe(943011);
  });

  it('resolve ctl by tag to the rules of CRS', () => {
    const sampling = program!.rules.find(({ id }) => id === 901450)!;
    const [removal] = sampling.links[0]!.effects;
    const removed = removal?.kind === 'removeRules' ? removal.rules : [];
    const count = removed.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    expect(count).toBe(program!.rules.filter(({ tags }) => tags.includes('OWASP_CRS')).length);
  });

  it('have the exclusions of REQUEST-999 at their targets', () => {
    const rule = program!.rules.find(({ id }) => id === 930120)!;
    expect(rule.links[0]!.exclusions).toContainEqual({
      variable: 'ARGS_NAMES',
      selector: { kind: 'name', name: 'json.profile' },
    });
  });
});
