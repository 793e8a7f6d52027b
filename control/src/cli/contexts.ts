/** Servers and tokens that the commands know by name, in a file that only its owner may read. */
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Environment } from '../config.ts';

interface ControlContext {
  readonly server: string;
  readonly token?: string;
  /** Name or id of the default project of commands. */
  readonly project?: string;
}

export interface Contexts {
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, ControlContext>>;
}

/** Returns GW_CONTROL_CONFIG, else `gw/control.yaml` in the platform's folder for config (XDG). */
export function contextsFile(env: Environment): string {
  const folder = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  return env['GW_CONTROL_CONFIG'] || join(folder, 'gw', 'control.yaml');
}

export async function readContexts(file: string): Promise<Contexts> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { current: null, contexts: {} };
    throw error;
  }
  const value: unknown = parse(text);
  const { current = null, contexts = {} } = isRecord(value) ? value : {};
  if ((current !== null && typeof current !== 'string') || !isRecord(contexts)) throw malformed(file);
  const entries = Object.entries(contexts).map(([name, context]): [string, ControlContext] => {
    const { server, token, project } = isRecord(context) ? context : {};
    if (typeof server !== 'string') throw malformed(file);
    return [
      name,
      {
        server,
        ...(typeof token === 'string' ? { token } : {}),
        ...(typeof project === 'string' ? { project } : {}),
      },
    ];
  });
  return { current, contexts: Object.fromEntries(entries) };
}

/** Writes the file whole or not at all, readable by its owner only. */
export async function writeContexts(file: string, contexts: Contexts): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, stringify(contexts), { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, file);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(file: string): Error {
  return new Error(
    `${file} is not in the format that gw-control writes: fix it, or delete it and set the contexts again`,
  );
}
