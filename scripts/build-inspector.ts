/** Bundles the inspector of tools (gateway/inspector) into gateway/dist/inspector. It takes a tenth of a second. */
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
/** Where the gateway looks for it; beside its bundle where it is published. */
export const INSPECTOR_FOLDER = join(root, 'gateway', 'dist', 'inspector');

export async function buildInspector(): Promise<void> {
  // Another process may build the same: each writes a folder of its own.
  const temporary = `${INSPECTOR_FOLDER}.${process.pid}`;
  try {
    const { warnings } = await build({
      absWorkingDir: root,
      entryPoints: { inspector: 'gateway/inspector/main.tsx', style: 'gateway/inspector/inspector.css' },
      outdir: temporary,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: ['chrome123', 'firefox120', 'safari17.5'],
      jsx: 'automatic',
      jsxImportSource: 'preact',
      minify: true,
      legalComments: 'none',
      logLevel: 'warning',
    });
    if (warnings.length > 0) throw new Error('esbuild warns about the inspector, see above');
    await rename(join(temporary, 'style.css'), join(temporary, 'inspector.css'));
    await cp(join(root, 'gateway', 'inspector', 'index.html'), join(temporary, 'index.html'));
    await rm(INSPECTOR_FOLDER, { recursive: true, force: true });
    await rename(temporary, INSPECTOR_FOLDER).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
