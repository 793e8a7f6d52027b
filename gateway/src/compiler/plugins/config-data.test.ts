/** Entries of the artifact that configs are compiled to, and the files that these name. */
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../../test/fixtures/specs/plugins.ts';
import { readArtifact } from '../../artifact/index.ts';
import { compile, type ProjectFile } from '../index.ts';

const BLOCK = 'SecRule ARGS:note "@contains bad" "id:1001,phase:2,deny,status:403"\n';

function spec(...uses: readonly string[]): string {
  const paths = uses.map((use, i) => {
    return `  /p${i}:\n    get:\n      x-gw-middlewares: [${use}]\n      x-gw-dispatch: { name: mock }\n`;
  });
  return `openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths:\n${paths.join('')}`;
}

function waf(...rules: readonly string[]): string {
  return `{ name: waf, config: { rules: ${JSON.stringify(rules)} } }`;
}

async function compiled(texts: Readonly<Record<string, string>>) {
  const files = Object.entries(texts).map(([name, text]): ProjectFile => ({ name, bytes: Buffer.from(text) }));
  const specs = files.flatMap(({ name }) => (name.endsWith('.yaml') ? [name] : []));
  return compile({ specs, files, plugins: fakePlugins, flags: { sourceDateEpoch: 0 } });
}

async function artifactOf(texts: Readonly<Record<string, string>>) {
  const result = await compiled(texts);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return { ...result, artifact: await readArtifact(result.artifact) };
}

/** Paths of entries that the configs of an artifact name. */
function named({ artifact }: Awaited<ReturnType<typeof artifactOf>>): readonly unknown[] {
  return artifact.routes.operations.map(({ middlewares }) => middlewares[0]?.config['rule_set']);
}

describe('data of configs', () => {
  it('is an entry of the artifact, which the config names', async () => {
    const result = await artifactOf({ 'a.yaml': spec(waf('waf.conf')), 'waf.conf': BLOCK });
    const [path] = named(result);
    expect(path).toMatch(/^waf\/[0-9a-f]{64}$/);
    expect([...result.artifact.data.keys()]).toEqual([path]);
    expect(Object.keys(result.manifest.checksums)).toContain(path);
  });

  it('is one entry for configs that come to the same', async () => {
    const texts = { 'a.yaml': spec(waf('waf.conf'), waf('*.conf')), 'waf.conf': BLOCK };
    const result = await artifactOf(texts);
    expect(new Set(named(result)).size).toBe(1);
    expect(result.artifact.data.size).toBe(1);
  });

  it('changes the hash of the artifact', async () => {
    const texts = { 'a.yaml': spec(waf('waf.conf')), 'waf.conf': BLOCK };
    const { artifactHash: before } = await artifactOf(texts);
    const { artifactHash: after } = await artifactOf({ ...texts, 'waf.conf': BLOCK.replace('bad', 'worse') });
    expect(after).not.toBe(before);
  });

  it('is the same wherever the folder of the document lies', async () => {
    const { artifactHash: here } = await artifactOf({ 'a.yaml': spec(waf('waf/*.conf')), 'waf/x.conf': BLOCK });
    const texts = { 'specs/a.yaml': spec(waf('waf/*.conf')), 'specs/waf/x.conf': BLOCK, 'waf/y.conf': 'SecRule' };
    expect((await artifactOf(texts)).artifactHash).toBe(here);
  });
});

describe('paths', () => {
  it.each([
    ['waf/*.conf', ['waf/a.conf', 'waf/b.conf']],
    ['*/b.conf', ['waf/b.conf']],
    ['*.conf', ['top.conf']],
    ['w*f/*a*.conf', ['waf/a.conf']],
  ])('%s stands for %j', async (path, expected) => {
    const files = ['waf/a.conf', 'waf/b.conf', 'waf/more/c.conf', 'waf/.hidden.conf', 'top.conf'];
    const texts = Object.fromEntries(files.map((file) => [file, `SecRule FROM:${file} "@rx a" "id:1"`]));
    const result = await compiled({ 'a.yaml': spec(waf(path)), ...texts });
    expect(result.diagnostics.map(({ file }) => file)).toEqual(expected);
  });
});

describe('faults of rule files', () => {
  it('E1083: stand at the line of the rule', async () => {
    const text = '# a rule\nSecRule GEO:COUNTRY "@streq XX" "id:1,deny"\n';
    const result = await compiled({ 'specs/a.yaml': spec(waf('waf.conf')), 'specs/waf.conf': text });
    expect(result.ok).toBe(false);
    expect(result.diagnostics).toMatchObject([{ code: 'E1083', file: 'specs/waf.conf', line: 2, column: 9 }]);
  });

  it('E1084: are warnings where something has no effect', async () => {
    const text = `SecDebugLogLevel 9\n${BLOCK}`;
    const result = await compiled({ 'a.yaml': spec(waf('waf.conf')), 'waf.conf': text });
    expect(result.ok).toBe(true);
    expect(result.diagnostics).toMatchObject([{ code: 'E1084', severity: 'warning', file: 'waf.conf', line: 1 }]);
  });
});
