/**
 * A release as its users meet it: built and published to registries of this machine by `npm run release`, then installed
 * from there in empty folders, without the checkout.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../gateway/src/version.ts';
import { readArchive, writeArchive } from '../../scripts/release/archive.ts';
import type { Pushed } from '../../scripts/release/files.ts';
import { type DockerRegistry, hasDockerRegistry, startDockerRegistry } from '../docker-registry.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { hasVerdaccio, type NpmRegistry, startNpmRegistry } from './npm-registry.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const SOURCE = 'https://github.com/example/gw';
const here = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };

const starts = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args, { env: here, stdio: 'ignore' }).status === 0;
const absent = Object.entries({
  'npm registry': starts('npm', 'ping', '--fetch-retries=0', '--fetch-timeout=5000'),
  'verdaccio (npm ci --prefix test/release/registry)': hasVerdaccio,
  'docker-registry': hasDockerRegistry,
  'programs (npm run build)': existsSync(join(ROOT, 'dist', 'image')),
  'docker engine': starts('docker', 'info'),
  helm: starts('helm', 'version'),
  cosign: starts('cosign', 'version'),
  kubectl: starts('kubectl', 'version', '--client'),
  krew: starts('krew', 'version'),
}).flatMap(([name, present]) => (present ? [] : [name]));
const skipped = absent.length > 0 && process.env['GW_NO_SKIP'] !== '1';

describe.skipIf(skipped)(`a release${skipped ? ` (skipped: needs ${absent.join(', ')})` : ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-release-test-'));
  const out = join(folder, 'release');
  const key = join(folder, 'cosign');
  const platform = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
  let images: DockerRegistry;
  let npm: NpmRegistry;
  let env: Record<string, string | undefined>;
  let settings: readonly string[];
  let pushed: readonly Pushed[];

  const release = (...args: readonly string[]) =>
    run(process.execPath, [join(ROOT, 'scripts', 'release', 'release.ts'), ...args], { env, maxBuffer: 64 << 20 });
  const cosign = (...args: readonly string[]) => run('cosign', [...args], { env });
  const image = () => pushed.find(({ kind }) => kind === 'image') ?? expect.unreachable('no image was pushed');

  /** Nothing but a home, a path and the registry of packages; the folder is empty. Packages come once for all tests. */
  function newcomer(name: string) {
    const [home, cwd] = [join(folder, 'home'), join(folder, name)];
    mkdirSync(home, { recursive: true });
    mkdirSync(cwd);
    writeFileSync(join(home, '.npmrc'), `registry=${npm.url}\nupdate-notifier=false\n`);
    return { cwd, env: { HOME: home, PATH: here.PATH } };
  }

  beforeAll(async () => {
    [images, npm] = await Promise.all([startDockerRegistry(), startNpmRegistry()]);
    writeFileSync(join(folder, '.npmrc'), npm.login);
    env = { ...here, COSIGN_PASSWORD: 'of the test', SOURCE_DATE_EPOCH: '1763683200' };
    env['NPM_CONFIG_USERCONFIG'] = join(folder, '.npmrc');
    settings = [
      ...['--out', out, '--kubectl-platforms', platform, '--source-url', SOURCE],
      ...['--push-registry', `${images.host}/example/gw`, '--plain-http', '--push-npm', npm.url],
      ...['--sign-key', `${key}.key`],
    ];
    await run('cosign', ['generate-key-pair', '--output-key-prefix', key], { env });
    await release(...settings, '--skip', 'publish,signatures');
  });
  beforeAll(async () => {
    await release(...settings, '--only', 'publish,signatures');
    pushed = JSON.parse(readFileSync(join(out, 'pushed.json'), 'utf8'));
  });
  afterAll(async () => {
    await run('docker', ['rmi', '--force', `${images.host}/example/gw/gw:${VERSION}`], { env });
    await Promise.all([images.close(), npm.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a checksum of every file, and a signature that no other content has', async () => {
    const copy = join(folder, 'copy');
    cpSync(out, copy, { recursive: true });
    const { stdout } = await run('sha256sum', ['--check', 'checksums.txt'], { cwd: copy });
    const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    // All but itself, its signature, and what registries have.
    expect(stdout.match(/: OK$/gm)).toHaveLength(files.length - 3);
    const bundle = ['--bundle', join(copy, 'checksums.txt.sigstore.json')];
    const verify = () =>
      cosign('verify-blob', '--key', `${key}.pub`, ...bundle, '--insecure-ignore-tlog', join(copy, 'checksums.txt'));
    await verify();
    writeFileSync(join(copy, 'checksums.txt'), stdout);
    await expect(verify()).rejects.toThrow();
  });

  it('is signed in the registry: image and charts, and the image has its bill of materials', async () => {
    expect(pushed.map(({ kind, repository }) => [kind, repository])).toEqual([
      ['image', `${images.host}/example/gw/gw`],
      ...['control', 'gateway', 'operator'].map((name) => ['chart', `${images.host}/example/gw/charts/gw-${name}`]),
    ]);
    const flags = ['--key', `${key}.pub`, '--insecure-ignore-tlog', '--allow-http-registry'];
    for (const { repository, digest } of pushed) await cosign('verify', ...flags, `${repository}@${digest}`);
    const { repository, digest } = image();
    await cosign('verify-attestation', ...flags, '--type', 'cyclonedx', `${repository}@${digest}`);
    const other = join(folder, 'other');
    await cosign('generate-key-pair', '--output-key-prefix', other);
    await expect(
      cosign('verify', '--key', `${other}.pub`, ...flags.slice(2), `${repository}@${digest}`),
    ).rejects.toThrow();
  });

  it('serves a document by npx', async () => {
    const { cwd, env } = newcomer('npx');
    cpSync(join(ROOT, 'examples', 'petstore', 'openapi.yaml'), join(cwd, 'openapi.yaml'));
    const version = await run('npx', ['--yes', '@gw/gateway', '--version'], { cwd, env });
    expect(version.stdout.trim()).toBe(VERSION);
    const options = ['--listen', '127.0.0.1:0', '--admin-bind', 'off', '--log-format', 'json'];
    const served = spawn('npx', ['--yes', '@gw/gateway', 'dev', 'openapi.yaml', '--mock', ...options], {
      ...{ cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    });
    const ended = new Promise((resolve) => served.once('close', resolve));
    onTestFinished(async () => {
      // npx and what it started.
      if (served.pid !== undefined && served.exitCode === null) process.kill(-served.pid);
      await ended;
    });
    const url = await addressIn([served.stdout, served.stderr], ended);
    const answer = await fetch(`${url}/pets/7`);
    expect(await answer.json()).toMatchObject({ id: 7, name: 'Rex' });
    expect((await fetch(`${url}/pets/seven`)).status).toBe(400);
  });

  it('compiles a project by npx', async () => {
    const options = newcomer('compile');
    await run('npx', ['--yes', '@gw/gateway', 'init', 'demo'], options);
    const { stdout } = await run('npx', ['--yes', '@gw/gateway', 'compile', '--output', 'api.gwa'], {
      ...{ ...options, cwd: join(options.cwd, 'demo') },
    });
    expect(stdout).toMatch(/^api\.gwa: 4 routes/);
  });

  it('has commands of the operator and the control plane by npx', async () => {
    const options = newcomer('commands');
    for (const [name, command] of [
      ['operator', 'gw-operator'],
      ['operator', 'kubectl-gw'],
      ['control', 'gw-control'],
    ]) {
      const { stdout } = await run('npx', ['--yes', '-p', `@gw/${name}`, `${command}`, '--version'], options);
      expect(stdout.trim(), command).toBe(VERSION);
    }
  });

  it('has an image that runs, and says what it is', async () => {
    const { repository, digest } = image();
    const reference = `${repository}@${digest}`;
    await run('docker', ['rmi', '--force', `${repository}:${VERSION}`], { env });
    await run('docker', ['pull', '--quiet', reference], { env });
    const { stdout } = await run('docker', ['run', '--rm', '--network', 'none', reference, '--version'], { env });
    expect(stdout.trim()).toBe(VERSION);
    const inspected = await run('docker', ['image', 'inspect', reference], { env });
    const [{ Config: config }] = JSON.parse(inspected.stdout);
    expect(config).toMatchObject({ User: '1000:1000', WorkingDir: '/app', Entrypoint: ['node', '/app/gw.js'] });
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.version': VERSION,
      'org.opencontainers.image.source': SOURCE,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    });
  });

  it('serves a document by docker', async () => {
    const { cwd } = newcomer('docker');
    cpSync(join(ROOT, 'examples', 'petstore', 'openapi.yaml'), join(cwd, 'openapi.yaml'));
    const { repository, digest } = image();
    const address = `127.0.0.1:${await freePort()}`;
    const name = `gw-release-${process.pid}`;
    const options = ['--detach', '--rm', '--name', name, '--network', 'host', '--volume', `${cwd}:/work`];
    await run(
      'docker',
      [
        ...['run', ...options, '--workdir', '/work', `${repository}@${digest}`],
        ...['dev', 'openapi.yaml', '--mock', '--listen', address, '--admin-bind', 'off'],
      ],
      { env },
    );
    onTestFinished(async () => void (await run('docker', ['kill', name], { env })));
    const pet = await eventually(async () => (await fetch(`http://${address}/pets/7`)).json());
    expect(pet).toMatchObject({ id: 7, name: 'Rex' });
  });

  it.each(['operator', 'gateway', 'control'])(
    'has the chart gw-%s, which takes the image of the release',
    async (name) => {
      const { cwd, env } = newcomer(`chart-${name}`);
      const chart = `oci://${images.host}/example/gw/charts/gw-${name}`;
      const values = join(ROOT, 'charts', name, 'ci', 'default-values.yaml');
      const { stdout } = await run(
        'helm',
        ['template', 'gw', chart, '--plain-http', '--kube-version', '1.34', '--values', values],
        { cwd, env, maxBuffer: 64 << 20 },
      );
      expect(stdout).toContain(`image: "${images.host}/example/gw/gw:${VERSION}"`);
    },
  );

  it('installs kubectl gw by krew, where there is no Node.js', async () => {
    const { cwd, env } = newcomer('krew');
    const bin = join(cwd, 'bin');
    mkdirSync(bin);
    const archive = join(out, `kubectl-gw-${VERSION}-${platform.replace('/', '-')}.tar.gz`);
    const krew = { ...env, KREW_ROOT: join(cwd, '.krew') };
    await run('krew', ['install', '--manifest', join(out, 'gw.yaml'), '--archive', archive], { cwd, env: krew });
    // Of the machine's programs, those that the launcher and kubectl need.
    for (const program of ['kubectl', 'sh', 'dirname', 'readlink']) {
      const { stdout } = await run('sh', ['-c', `command -v ${program}`], { env });
      writeFileSync(join(bin, program), `#!${await shell()}\nexec ${stdout.trim()} "$@"\n`, { mode: 0o755 });
    }
    const bare = { cwd, env: { HOME: cwd, PATH: [join(cwd, '.krew', 'bin'), bin].join(delimiter) } };
    const kubectl = (...args: readonly string[]) => run(join(bin, 'kubectl'), ['gw', ...args], bare);
    expect((await kubectl('--version')).stdout.trim()).toBe(VERSION);
    expect((await kubectl('--help')).stdout).toContain('kubectl gw status');
    // It is the program that asks the cluster, and not its help alone, that is in the archive.
    await expect(kubectl('status', '--kubeconfig', join(cwd, 'none'))).rejects.toThrow(/kubectl gw: .*none/);
  });

  it('has a bill of materials with all that packages depend on', async () => {
    const bom = JSON.parse(readFileSync(join(out, `gw-${VERSION}.cdx.json`), 'utf8'));
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'gw', version: VERSION } } });
    const refs = new Set(bom.components.map((each: { 'bom-ref': string }) => each['bom-ref']));
    const wanted: string[] = [];
    for (const file of readdirSync(join(out, 'npm'))) {
      const json = (await readArchive(join(out, 'npm', file))).find(({ name }) => name === 'package/package.json');
      const { name, version, dependencies = {} } = JSON.parse(json?.content.toString() ?? '');
      wanted.push(`${name}@${version}`, ...Object.entries(dependencies).map(([each, range]) => `${each}@${range}`));
    }
    expect(wanted.length).toBeGreaterThan(100);
    expect(wanted.filter((ref) => !refs.has(ref))).toEqual([]);
    // Bundled into pages; and tools of developers are none of it.
    const names = new Set(bom.components.map((each: { name: string }) => each.name));
    for (const name of ['preact', 'codemirror', '@codemirror/view']) expect(names).toContain(name);
    for (const name of ['vitest', 'typescript', '@biomejs/biome']) expect(names).not.toContain(name);
    const known = new Set([...refs, bom.metadata.component['bom-ref']]);
    for (const { ref, dependsOn } of bom.dependencies) {
      for (const each of [ref, ...dependsOn]) expect(known).toContain(each);
    }
  });

  it('has a statement of the commit that it was built from', () => {
    const statement = JSON.parse(readFileSync(join(out, 'provenance.intoto.json'), 'utf8'));
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      subject: expect.arrayContaining([
        { name: image().repository, digest: { sha256: image().digest.slice('sha256:'.length) } },
        { name: 'gw.yaml', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      ]),
    });
  });

  it('is published once: the same content again changes nothing, other content is refused', async () => {
    const again = ['--out', out, '--only', 'publish', '--push-npm', npm.url];
    const { stderr } = await release(...again);
    expect(stderr).not.toContain('publishing');
    const changed = join(folder, 'changed');
    cpSync(out, changed, { recursive: true });
    const file = join(changed, 'npm', `gw-plugin-mock-${VERSION}.tgz`);
    const more = { name: 'package/more', mode: 0o644, content: Buffer.from('more') };
    await writeArchive(file, [...(await readArchive(file)), more], 0);
    await expect(release('--out', changed, ...again.slice(2))).rejects.toThrow(
      `@gw/plugin-mock@${VERSION} is in ${npm.url} with other content`,
    );
  });

  it('is the same again: the same commit gives the same bytes', async () => {
    // Archives: scripts/release/archive.test.ts.
    const second = join(folder, 'second');
    await release(...settings, '--out', second, '--only', 'packages,charts,sbom,checksums');
    const lines = (of: string) => readFileSync(join(of, 'checksums.txt'), 'utf8').split('\n');
    const again = lines(second);
    expect(again.length).toBeGreaterThan(49);
    expect(lines(out)).toEqual(expect.arrayContaining(again));
  });
});

async function shell(): Promise<string> {
  return (await run('sh', ['-c', 'command -v sh'])).stdout.trim();
}

/** The address that `gw dev` says it serves on. */
function addressIn(outputs: readonly NodeJS.ReadableStream[], ended: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    for (const output of outputs) {
      createInterface(output).on('line', (line) => {
        lines.push(line);
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      });
    }
    void ended.then(() => reject(new Error(`gw dev ended: ${lines.join('\n')}`)));
  });
}
