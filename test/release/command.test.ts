/** The command line of `npm run release`, on a machine that has nothing but Node.js. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '..', '..', 'scripts', 'release', 'release.ts');

describe('npm run release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-release-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const release = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--out', folder, ...args], {
      env: { PATH: folder, SOURCE_DATE_EPOCH: '1' },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };

  it('shows examples', () => {
    expect(release('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Examples:\n  $ npm run') });
  });

  it('says what it would do', () => {
    const { status, stderr } = release('--dry-run', '--skip', 'image', '--sign-key', 'cosign.key');
    expect(status).toBe(0);
    expect(stderr).toContain('packages, charts, kubectl, sbom, provenance, checksums, signatures');
  });

  it.each([
    ['charts', 'helm is not installed: see https://helm.sh'],
    ['image', 'docker is not installed: see https://docs.docker.com'],
    ['sbom', 'npm is not installed: it comes with Node.js'],
  ])('names the tool that %s needs, and how to get it', (step, message) => {
    expect(release('--only', step)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  });

  it('says so before it builds anything', () => {
    const { status, stderr } = release('--skip', 'packages,kubectl,sbom', '--sign-key', 'cosign.key');
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^gw release: helm is not installed/)]);
  });

  it.each([
    [['--only', 'image,paint'], 'paint is no step: packages, charts'],
    [['--only', 'signatures'], 'say with --sign-key FILE or --sign-keyless how to sign'],
    [['--only', 'publish'], 'say with --push-npm URL or --push-registry HOST/PATH where'],
    [['--only', 'publish', '--push-npm', 'http://127.0.0.1:1'], 'npm is not installed'],
    [['--kubectl-platforms', 'plan9/amd64'], 'plan9/amd64 is not one of linux/amd64'],
    [['--push-registry', 'oci://registry'], 'without oci://'],
    [['--only', 'image', '--image-platforms', 'linux/amd64,linux/arm64'], 'say with --push-registry HOST/PATH where'],
  ])('refuses %s', (args, message) => {
    expect(release(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  });

  it('writes checksums of what is there', () => {
    writeFileSync(join(folder, 'one'), 'one');
    expect(release('--only', 'checksums').status).toBe(0);
    expect(readFileSync(join(folder, 'checksums.txt'), 'utf8')).toBe(
      '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  one\n',
    );
  });
});
