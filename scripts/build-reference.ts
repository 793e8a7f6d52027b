/** Bundles the page of API references (gateway/reference) into gateway/dist/reference, with the script of Scalar. */
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
/** Where gateway and control plane look for it; beside their bundles where they are published. */
export const REFERENCE_FOLDER = join(root, 'gateway', 'dist', 'reference');

export async function buildReference(): Promise<void> {
  // Another process may build the same: each writes a folder of its own.
  const temporary = `${REFERENCE_FOLDER}.${process.pid}`;
  try {
    await mkdir(temporary, { recursive: true });
    const { warnings } = await build({
      absWorkingDir: root,
      entryPoints: { reference: 'gateway/reference/main.ts' },
      outdir: temporary,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: ['chrome123', 'firefox120', 'safari17.5'],
      minify: true,
      legalComments: 'none',
      logLevel: 'warning',
    });
    if (warnings.length > 0) throw new Error('esbuild warns about the API reference, see above');
    for (const file of ['index.html', 'reference.css'])
      await cp(join(root, 'gateway', 'reference', file), join(temporary, file));
    await writeFile(join(temporary, 'scalar.js'), await scalarScript());
    await writeFile(join(temporary, 'version.txt'), await currentVersion());
    await rm(REFERENCE_FOLDER, { recursive: true, force: true });
    await rename(temporary, REFERENCE_FOLDER).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function currentVersion(): Promise<string> {
  const json = await readFile(join(root, 'node_modules', '@scalar', 'fastify-api-reference', 'package.json'), 'utf8');
  return JSON.parse(json).version;
}

/**
 * The package has the script as text inside, and serves it. Without the name of its source map, which is not there.
 * Loading it takes a second: what is built already is taken again.
 */
async function scalarScript(): Promise<string> {
  const built = await readFile(join(REFERENCE_FOLDER, 'version.txt'), 'utf8').catch(() => '');
  if (built === (await currentVersion())) return readFile(join(REFERENCE_FOLDER, 'scalar.js'), 'utf8');
  const [{ default: fastify }, { default: scalar }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const app = fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { content: {} } });
  const { statusCode, payload } = await app.inject('/docs/js/scalar.js');
  await app.close();
  if (statusCode !== 200) throw new Error(`Scalar answers ${statusCode} for its script`);
  return payload.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}
