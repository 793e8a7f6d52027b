import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SecretError, Secrets } from './secrets.ts';

describe('secret references (reference 1, section 2.5; D24)', () => {
  let root = '';
  let dir = '';
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'gw-secrets-'));
    dir = join(root, 'secrets');
    mkdirSync(dir);
    mkdirSync(join(root, 'secrets-other'));
    writeFileSync(join(dir, 'key'), 'planted-value\n');
    writeFileSync(join(dir, 'two'), 'a\n\n');
    writeFileSync(join(root, 'outside'), 'planted-value');
    writeFileSync(join(root, 'secrets-other', 'x'), 'planted-value');
    symlinkSync(join(root, 'outside'), join(dir, 'link'));
    symlinkSync(join(dir, 'key'), join(dir, 'inner'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const secrets = () => new Secrets({ env: { TOKEN: 't', EMPTY: '', GW_API_KEY: 'planted-value' }, dir });

  it('resolves in nested objects and arrays, and leaves the rest alone', () => {
    const config = { a: 'env://TOKEN', b: [{ c: `file://${dir}/key` }, 1, null], d: 'https://env://x', e: true };
    expect(secrets().resolve(config)).toEqual({
      a: 't',
      b: [{ c: 'planted-value' }, 1, null],
      d: 'https://env://x',
      e: true,
    });
  });

  it('strips one newline at the end, and follows links inside', () => {
    expect(secrets().readFile(`${dir}/two`)).toBe('a\n');
    expect(secrets().readFile(`${dir}/inner`)).toBe('planted-value');
  });

  it.each([
    ['unset', 'env://MISSING', 'is not set'],
    ['empty', 'env://EMPTY', 'is empty'],
    ['our own variable', 'env://GW_API_KEY', 'gw itself'],
    ['missing file', 'file://DIR/none', 'ENOENT'],
    ['link that leads out', 'file://DIR/link', 'outside of GW_SECRETS_DIR'],
    ['climbing', 'file://DIR/../outside', 'outside of GW_SECRETS_DIR'],
    ['a folder whose name begins alike', 'file://DIR-other/x', 'outside of GW_SECRETS_DIR'],
    ['relative', 'file://key', 'absolute'],
    ['a folder', 'file://DIR/.', 'outside of GW_SECRETS_DIR'],
  ])('refuses %s, without the value', (_name, reference, reason) => {
    const attempt = () => secrets().resolve({ deep: [{ er: reference.replace('DIR', dir) }] });
    expect(attempt).toThrow(SecretError);
    expect(attempt).toThrow(reason);
    expect(attempt).not.toThrow('planted-value');
  });

  it('refuses every file without GW_SECRETS_DIR', () => {
    const none = new Secrets({ env: {}, dir: undefined });
    expect(() => none.resolve({ a: `file://${dir}/key` })).toThrow('needs GW_SECRETS_DIR');
  });
});
