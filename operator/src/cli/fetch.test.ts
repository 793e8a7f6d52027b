import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EgressGuard } from '@gw/gateway/egress';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerRegistry, hasDockerRegistry, startDockerRegistry, USER } from '../../../test/docker-registry.ts';
import { GW_OPERATOR } from '../../../test/programs/gw-operator.ts';
import { RegistryClient } from '../registry/client.ts';
import { parseDockerConfig } from '../registry/docker-config.ts';
import { IMAGE_MANIFEST } from '../registry/media-types.ts';
import { parseReference } from '../registry/reference.ts';
import { artifactImage } from '../storage/artifact-image.ts';

const run = promisify(execFile);
const fetchImage = (...args: readonly string[]) => run(process.execPath, [GW_OPERATOR, 'fetch', ...args]);
const skipped = hasDockerRegistry ? '' : ' (skipped: there is no docker-registry)';

describe.skipIf(!hasDockerRegistry && process.env['GW_NO_SKIP'] !== '1')(`gw-operator fetch${skipped}`, () => {
  const archive = Buffer.from('an archive');
  const tarSha256 = createHash('sha256').update('its tar').digest('hex');
  let registry: DockerRegistry;
  let dir = '';
  let image = '';

  beforeAll(async () => {
    registry = await startDockerRegistry({ auth: 'basic' });
    dir = await mkdtemp(join(tmpdir(), 'gw-fetch-'));
    const config = JSON.stringify({ auths: { [registry.host]: USER } });
    await writeFile(join(dir, 'config.json'), config);
    const client = new RegistryClient({
      guard: new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] }),
      plainHttpRegistries: [registry.host],
    });
    const name = parseReference(`${registry.host}/shop`);
    const repository = client.repository(name, { plainHttp: true, credentials: parseDockerConfig(config) });
    const made = await artifactImage({ archive, tarSha256, artifactHash: 'sha256:x', owner: 'uid' });
    await Promise.all([repository.pushBlob(made.layer), repository.pushBlob(made.config)]);
    image = `${registry.host}/shop@${await repository.pushManifest(made.manifest, IMAGE_MANIFEST, made.tag)}`;
    await client.close();
  });
  afterAll(async () => {
    await registry?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('copies the artifact into a folder, with the credentials of a file', async () => {
    const [missing, config] = [join(dir, 'missing.json'), join(dir, 'config.json')];
    const credentials = ['--docker-config', missing, '--docker-config', config];
    const { stdout } = await fetchImage(
      image,
      join(dir, 'out'),
      ...credentials,
      '--plain-http-registry',
      registry.host,
    );
    expect(stdout).toBe(`${tarSha256}.gwa: ${archive.length} bytes\n`);
    expect(await readFile(join(dir, 'out', `${tarSha256}.gwa`))).toEqual(archive);
  });

  it('says why it does not', async () => {
    const [none, broken] = [join(dir, 'none'), join(dir, 'broken.json')];
    await writeFile(broken, '{');
    await Promise.all([
      expect(fetchImage(image, none, '--plain-http-registry', registry.host)).rejects.toThrow('requires a user name'),
      expect(fetchImage(`${registry.host}/shop:latest`, none)).rejects.toThrow('by digest only'),
      expect(fetchImage(image, none, '--docker-config', broken)).rejects.toThrow('broken.json: it is not JSON'),
    ]);
  });
});
