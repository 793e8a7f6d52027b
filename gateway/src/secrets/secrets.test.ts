import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SecretError, Secrets } from './secrets.ts';

// docs/reference/gateway.md#secrets, docs/decisions.md#secrets-resolved
describe('secret references', () => {
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
    writeFileSync(join(dir, 'empty'), '\n');
    writeFileSync(join(dir, 'crlf'), 'a\r\n');
    writeFileSync(join(dir, 'large'), 'planted-value'.repeat(100_000));
    mkdirSync(join(dir, 'folder'));
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    symlinkSync(join(root, 'secrets-other'), join(dir, 'linked-folder'));
    symlinkSync(dir, join(root, 'linked-dir'));
    symlinkSync(join(root, 'outside'), join(dir, 'link'));
    symlinkSync(join(dir, 'key'), join(dir, 'inner'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const secrets = () => new Secrets({ env: { TOKEN: 't', EMPTY: '', GW_API_KEY: 'planted-value' }, dir });

  // docs/decisions.md#secrets-resolved
  it('resolves an empty variable to empty text only where that counts as unset', () => {
    const empty = new Secrets({ env: { EMPTY: '', SET: 'x' }, dir: undefined });
    const config = { a: 'env://EMPTY', b: { c: 'env://SET' } };
    expect(empty.resolve(config, ['/a'])).toEqual({ a: '', b: { c: 'x' } });
    expect(() => empty.resolve(config)).toThrow('env://EMPTY: the variable is empty');
    expect(() => empty.resolve({ a: 'env://UNSET' }, ['/a'])).toThrow('env://UNSET: the variable is not set');
  });

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
    expect(secrets().readFile(`${dir}/crlf`)).toBe('a');
    expect(secrets().readFile(`${dir}/inner`)).toBe('planted-value');
    expect(secrets().readFile(`${dir}/folder/../key`)).toBe('planted-value');
    expect(secrets().readFile(`${root}/linked-dir/key`)).toBe('planted-value');
    const linked = new Secrets({ env: {}, dir: join(root, 'linked-dir') });
    expect(linked.readFile(`${dir}/key`)).toBe('planted-value');
  });

  it.each([
    ['unset', 'env://MISSING', 'is not set'],
    ['empty', 'env://EMPTY', 'is empty'],
    ['our own variable', 'env://GW_API_KEY', 'gw itself'],
    ['missing file', 'file://DIR/none', 'ENOENT'],
    ['link that leads out', 'file://DIR/link', 'outside of GW_SECRETS_DIR'],
    ['empty file', 'file://DIR/empty', 'is empty'],
    ['large file', 'file://DIR/large', 'larger than 1 MiB'],
    ['folder', 'file://DIR/folder', 'is not a file'],
    ['pipe', 'file://DIR/pipe', 'is not a file'],
    ['device', 'file:///dev/zero', 'outside of GW_SECRETS_DIR'],
    ['link to a folder outside', 'file://DIR/linked-folder/x', 'outside of GW_SECRETS_DIR'],
    ['a name with NUL', 'file://DIR/key\0', 'cannot be read'],
    ['no name', 'env://', 'is not set'],
    ['a variable that objects inherit', 'env://toString', 'is not set'],
    ['our own variable, any', 'env://GW_', 'gw itself'],
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

  it('knows no other scheme, and references only whole strings', () => {
    const config = { a: 'ENV://TOKEN', b: 'x env://TOKEN', c: ' env://TOKEN', d: 'vault://TOKEN', 'env://TOKEN': 1 };
    expect(secrets().resolve(config)).toEqual(config);
    expect(secrets().resolve(JSON.parse('{"__proto__":{"a":"env://TOKEN"}}'))).toEqual(
      JSON.parse('{"__proto__":{"a":"t"}}'),
    );
  });

  it('refuses every file without GW_SECRETS_DIR', () => {
    const none = new Secrets({ env: {}, dir: undefined });
    expect(() => none.resolve({ a: `file://${dir}/key` })).toThrow('needs GW_SECRETS_DIR');
  });
});
