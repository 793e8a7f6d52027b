/** The script of `gw` in the image, and the code that V8 keeps of it. Needs dist/image as `npm test` builds it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../gateway/src/version.ts';
import { codeOf, scriptOf } from '../../scripts/image/program-script.ts';

const programs = process.env['GW_TEST_PROGRAMS'] ?? '';

describe.skipIf(programs === '')('the script of gw (needs GW_TEST_PROGRAMS)', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-image-'));
    for (const name of ['package.json', 'gw.js', scriptOf('gw'), codeOf('gw')]) {
      cpSync(join(programs, name), join(folder, name));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [...args], { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } });
  const version = (...flags: readonly string[]) => run(...flags, join(folder, 'gw.js'), '--version').trim();
  /** Asks V8 in a process with plain flags, as the image has it. */
  const isAccepted = (...flags: readonly string[]) =>
    run(
      ...flags,
      '--eval',
      `import(${JSON.stringify(join(import.meta.dirname, '..', '..', 'scripts', 'image', 'program-script.ts'))}).then(
        ({ programScript }) => console.log(programScript('gw', process.cwd(), '').script.cachedDataRejected),
      )`,
    ).trim() === 'false';

  it('comes with code that V8 takes, in another folder too', () => {
    expect(isAccepted()).toBe(true);
    expect(version()).toBe(VERSION);
  });

  it('starts under flags for which V8 refuses the code', () => {
    const flags = ['--no-opt', '--max-semi-space-size=2'];
    expect(isAccepted(...flags)).toBe(false);
    expect(version(...flags)).toBe(VERSION);
  });

  it.each<[string, (code: Buffer) => Buffer]>([
    ['damaged', (code) => Buffer.concat([code.subarray(0, -1_000), Buffer.alloc(1_000, 0xff)])],
    ['cut short', (code) => code.subarray(0, code.length / 2)],
    ['of another source', (code) => Buffer.concat([Buffer.alloc(4), code.subarray(4)])],
    ['empty', () => Buffer.alloc(0)],
  ])('starts where the code is %s', (_, change) => {
    const code = readFileSync(join(programs, codeOf('gw')));
    writeFileSync(join(folder, codeOf('gw')), change(code));
    expect(isAccepted()).toBe(false);
    expect(version()).toBe(VERSION);
  });

  it('starts without the code', () => {
    rmSync(join(folder, codeOf('gw')));
    expect(version()).toBe(VERSION);
  });
});
