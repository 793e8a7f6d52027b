/**
 * Options of compiling commands for plugins that are named by URL (docs/reference/cli.md#remote-plugins,
 * docs/decisions.md#references-stay-inside).
 */
import { join } from 'node:path';
import type { Option } from 'commander';
import type { EgressGuard } from '../../egress/guard.ts';
import type { RemotePlugins } from '../../plugins/remote.ts';
import { messageOf } from '../../text/message-of.ts';
import type { Program } from '../command-line/program.ts';
import { listOption, noFlag, option } from '../command-line/variables.ts';

export interface RemotePluginFlags {
  readonly cache: boolean;
  readonly cacheDir?: string;
  readonly egressAllow: readonly string[];
}

export function cacheOptions(): readonly Option[] {
  return [
    noFlag('--no-cache', 'download remote plugins again'),
    option('--cache-dir <folder>', 'folder for downloads; default gw in XDG_CACHE_HOME or ~/.cache'),
  ];
}

export function downloadEgressOption(): Option {
  return listOption('--egress-allow <cidr-or-host>', 'internal address or host to allow plugins from', 'none');
}

/**
 * Rejects with ManifestError if an entry of `--egress-allow` is malformed. Modules for downloads are loaded here, on
 * demand.
 */
export async function remotePluginsOf(
  { cache, cacheDir, egressAllow }: RemotePluginFlags,
  allowPlaintext: boolean,
  { env, stderr }: Pick<Program, 'env' | 'stderr'>,
): Promise<RemotePlugins> {
  const [{ EgressGuard }, { RemotePlugins }, { ManifestError }] = await Promise.all([
    import('../../egress/guard.ts'),
    import('../../plugins/remote.ts'),
    import('./manifest.ts'),
  ]);
  const folder = cacheDir ?? userCache(env);
  const allowInternal = ['1', 'true'].includes(env['GW_ALLOW_INTERNAL_EGRESS'] ?? '');
  let guard: EgressGuard;
  try {
    guard = new EgressGuard({ allowInternal, allow: egressAllow });
  } catch (error) {
    throw new ManifestError(messageOf(error), { cause: error });
  }
  return new RemotePlugins({
    guard,
    allowPlaintext,
    useCache: cache,
    ...(folder === undefined ? {} : { cacheDir: join(folder, 'plugins') }),
    report: (line) => stderr(`${line}\n`),
  });
}

/**
 * XDG Base Directory Specification: a relative XDG_CACHE_HOME is ignored. Returns undefined without a home directory.
 */
function userCache(env: Program['env']): string | undefined {
  const { XDG_CACHE_HOME: xdg, HOME: home } = env;
  if (xdg?.startsWith('/')) return join(xdg, 'gw');
  return home ? join(home, '.cache', 'gw') : undefined;
}
