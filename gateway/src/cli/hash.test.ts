import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/cli/captured-run.ts';
import { passwordHash } from '../../features/auth/host/passwords/password-hash.ts';
import { hashCommand } from './hash.ts';

describe('gw hash', () => {
  it.each(['argon2id', 'scrypt'])('prints a hash that the password matches: %s', async (algorithm) => {
    const { code, stdout, stderr } = await runCommand(hashCommand, ['--algorithm', algorithm], {}, 'Zoë: s3cret\n');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^\\$${algorithm}\\$[^\\n]+\\n$`));
    expect(await passwordHash(stdout.trim()).matches('Zoë: s3cret')).toBe(true);
  });

  it('prints what sha256sum does, for keys', async () => {
    const { stdout } = await runCommand(hashCommand, ['--algorithm', 'sha256'], {}, 'abc\r\n');
    expect(stdout).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n');
  });

  it.each([
    ['nothing', ''],
    ['an empty line', '\n'],
    ['two lines', 'one\ntwo\n'],
  ])('refuses %s', async (_what, input) => {
    const { code, stdout, stderr } = await runCommand(hashCommand, [], {}, input);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('give one secret on standard input');
  });
});
