import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyCommand } from './artifact/verify.ts';
import { completionCommand } from './command-line/completion.ts';
import type { Program } from './command-line/program.ts';
import { compileCommand } from './compile.ts';
import { initCommand } from './init.ts';
import { mcpCommand } from './mcp/mcp.ts';
import { pluginCommand } from './plugin/plugin.ts';
import { serveCommand } from './serve/serve.ts';
import { validateCommand } from './validate.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const scripts = new Map<string, string>();
let folder: string;
let gw: Command;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-completion-'));
  for (const shell of SHELLS) {
    const program: Program = {
      env: {},
      stdout: (text) => void scripts.set(shell, String(text)),
      stderr: () => {},
      exit: () => {},
      stdin: async () => new Uint8Array(0),
      input: async function* () {},
      onSignal: () => {},
    };
    gw = new Command('gw');
    for (const add of [
      initCommand,
      compileCommand,
      validateCommand,
      serveCommand,
      verifyCommand,
      mcpCommand,
      pluginCommand,
      completionCommand,
    ]) {
      gw.addCommand(
        add(program)
          .exitOverride()
          .configureOutput({ writeErr: () => {} }),
      );
    }
    await gw.parseAsync(['completion', shell], { from: 'user' });
    writeFileSync(join(folder, `gw.${shell}`), scripts.get(shell) ?? '');
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What bash offers for the last of the words. */
function offered(...words: string[]): string[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: bash's own
  const script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gw; printf "%s\\n" "${COMPREPLY[@]}"';
  const out = execFileSync('bash', ['-c', script, 'bash', join(folder, 'gw.bash'), ...words], { encoding: 'utf8' });
  return out.split('\n').filter((line) => line !== '');
}

describe('gw completion', () => {
  it('completes commands, options and values in bash', () => {
    expect(offered('gw', 'v')).toEqual(['validate', 'verify']);
    expect(offered('gw', 'serve', '--max-h')).toEqual([
      '--max-headers',
      '--max-header-size',
      '--max-header-bytes',
      '--max-held-response-bytes',
      '--max-held-header-bytes',
    ]);
    expect(offered('gw', 'serve', '--log-format', '')).toEqual(['json', 'pretty']);
    expect(offered('gw', 'init', '-t', 'm')).toEqual(['minimal']);
  });

  it('completes the commands of gw plugin', () => {
    expect(offered('gw', 'plugin', '')).toEqual(['init', 'build', 'test', 'pack']);
    expect(offered('gw', 'plugin', 'pack', '--o')).toEqual(['--output']);
    expect(offered('gw', 'plugin', 'init', 'x', '--type', 'd')).toEqual(['dispatcher']);
    for (const shell of ['zsh', 'fish']) expect(scripts.get(shell)).toMatch(/init(.|\n)*build(.|\n)*test(.|\n)*pack/);
  });

  it('completes values of the commands of gw mcp', () => {
    expect(offered('gw', 'mcp', '')).toEqual(['tools', 'call', 'pin']);
    expect(offered('gw', 'mcp', 'call', 'x', 'y', '--logs', 'e')).toEqual(['error', 'emergency']);
    expect(offered('gw', 'mcp', 'call', 'x', 'y', '--format', '')).toEqual(['table', 'json', 'yaml', 'text']);
  });

  it('leaves files to bash', () => {
    expect(offered('gw', 'serve', '--artifact', 'a')).toEqual([]);
    expect(offered('gw', 'verify', 'a')).toEqual([]);
  });

  it.each(SHELLS)('has every command and option, in %s', (shell) => {
    const script = scripts.get(shell) ?? '';
    for (const command of gw.commands) {
      expect(script).toContain(command.name());
      for (const { long } of command.options) {
        expect(script, `${command.name()} ${long}`).toContain(shell === 'fish' ? `-l ${long?.slice(2)}` : long);
      }
    }
  });

  it.each(SHELLS)('is well-formed: quotes are closed on each line, and %s reads it where it is installed', (shell) => {
    for (const line of (scripts.get(shell) ?? '').split('\n')) expect(line.split("'").length % 2, line).toBe(1);
    const { error, status, stderr } = spawnSync(shell, ['-n', join(folder, `gw.${shell}`)], { encoding: 'utf8' });
    if (!error) expect(status, stderr).toBe(0);
  });

  it('refuses another shell', async () => {
    await expect(gw.parseAsync(['completion', 'csh'], { from: 'user' })).rejects.toThrow('bash, zsh, fish');
  });
});
