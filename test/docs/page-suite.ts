/**
 * The walk of a page: its console blocks, in order, in one shell, as a stranger types them. A block that tests cannot
 * run says why by a comment above it (console-page.ts).
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { type ConsoleBlock, readPage, type ShownCommand } from './console-page.ts';
import { openShell, type PageShell, type Running } from './page-shell.ts';
import { matchOutput, withValues } from './shown-output.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Walk {
  /** What the page calls by name: a module for Node.js, and arguments before those of the page. */
  readonly programs: Readonly<Record<string, readonly [main: string, ...args: string[]]>>;
  /** What else must be on the path. Where something is not, the walk is skipped by its name. */
  readonly tools: readonly string[];
  /** Ports that the page says: each becomes a free one. */
  readonly ports: readonly number[];
  /** Commands that differ here, by how the page has them, without their comment. Ports are as the page says them. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Puts what the reader has into the folder that the page begins in; returns variables of the shell. */
  readonly prepare?: (folder: string, port: (shown: number) => number) => Variables | Promise<Variables>;
  /** When the shell and all that it started have ended. */
  readonly after?: () => Promise<void>;
}

type Variables = Readonly<Record<string, string>>;

/** Where programs listen that are not told where. */
export const LISTENING = (port: (shown: number) => number): Variables => ({
  GW_LISTEN: `127.0.0.1:${port(8080)}`,
  GW_ADMIN_BIND: `127.0.0.1:${port(8081)}`,
  GW_CONTROL_LISTEN: `127.0.0.1:${port(9090)}`,
  GW_CONTROL_ADMIN_BIND: `127.0.0.1:${port(9091)}`,
});

/** Languages of fences that hold no commands. */
const NO_COMMANDS = ['yaml', 'json', 'toml', 'ts', 'text', 'promql', 'pem'];

/** `reason`: why it is skipped as a whole. */
export function walkPage(page: string, walk: Walk, reason = missingOf(walk.tools)): void {
  const { blocks, fences } = readPage(readFileSync(join(ROOT, page), 'utf8'));

  it(`${page} shows commands in console blocks only`, () => {
    const others = fences.filter(({ language }) => language !== 'console' && !NO_COMMANDS.includes(language));
    expect(others).toEqual([]);
  });

  describe.skipIf(reason !== '')(`${page}${reason && ` (skipped: ${reason})`}`, () => {
    const reader = new Reader(walk);
    beforeAll(() => reader.open());
    afterAll(() => reader.close());
    for (const block of blocks) {
      if (block.notRun !== null) continue;
      it(`line ${block.line}: ${block.commands[0]?.command}`, () => reader.type(block));
    }
  });
}

function missingOf(tools: readonly string[]): string {
  if (process.env['GW_NO_SKIP'] === '1') return '';
  const missing = tools.filter((name) => spawnSync('bash', ['-c', `command -v ${name}`]).status !== 0);
  return missing.length === 0 ? '' : `needs ${missing.join(', ')}`;
}

/** Who follows a page. */
class Reader {
  readonly #walk: Walk;
  readonly #ports = new Map<number, number>();
  readonly #values = new Map<string, string>();
  #folder = '';
  #shell: PageShell | null = null;
  #running: Running[] = [];
  #failed: ConsoleBlock | null = null;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  async open(): Promise<void> {
    const { programs, ports, prepare } = this.#walk;
    for (const port of ports) this.#ports.set(port, await freePort());
    this.#folder = mkdtempSync(join(tmpdir(), 'gw-page-'));
    const made = (name: string) => {
      const path = join(this.#folder, name);
      mkdirSync(path);
      return path;
    };
    const [bin, home, work, log] = [made('bin'), made('home'), made('work'), made('log')];
    for (const [name, command] of Object.entries(programs)) {
      const words = [process.execPath, ...command].map((word) => `"${word}"`).join(' ');
      writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
    }
    // On a terminal it shows no progress.
    writeFileSync(join(home, '.curlrc'), 'no-progress-meter\n');
    const variables = await prepare?.(work, (shown) => this.#ports.get(shown) ?? shown);
    this.#shell = openShell(log, work, {
      PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
      HOME: home,
      ...variables,
    });
  }

  async close(): Promise<void> {
    await this.#shell?.close();
    await this.#walk.after?.();
    if (this.#folder !== '') rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What follows a block that has failed would only fail with it. */
  async type(block: ConsoleBlock): Promise<void> {
    if (this.#failed) throw new Error(`not typed: the block at line ${this.#failed.line} has failed`);
    this.#failed = block;
    await this.#type(block);
    this.#failed = null;
  }

  async #type({ commands, keepsRunning, endsOthers }: ConsoleBlock): Promise<void> {
    if (endsOthers) {
      for (const each of this.#running.splice(0)) await each.interrupt();
    }
    for (const [index, each] of commands.entries()) {
      const staying = keepsRunning && index === commands.length - 1;
      if (staying || each.interrupted) {
        const running = await this.#start(each);
        if (staying) this.#running.push(running);
        else await interrupted(each, running);
      } else {
        await this.#run(each);
      }
    }
  }

  /** As it is typed here. */
  #typed({ command }: ShownCommand): string {
    const stated = this.#walk.instead?.[command.replace(/\s+#.*$/, '')] ?? command;
    const text = withValues(stated, this.#values);
    return text.replace(/\b\d{4,5}\b/g, (number) => String(this.#ports.get(Number(number)) ?? number));
  }

  async #run(shown: ShownCommand): Promise<void> {
    const command = this.#typed(shown);
    const { code, output } = await this.#open.run(command);
    expect(code, `line ${shown.line}: ${command}\n${output}`).toBe(0);
    this.#compare(shown, output);
  }

  async #start(shown: ShownCommand): Promise<Running> {
    const running = await this.#open.start(this.#typed(shown));
    await eventually(async () => this.#compare(shown, await running.output()));
    return running;
  }

  #compare({ output: shown, line }: ShownCommand, printed: string): void {
    if (shown.length === 0) return;
    const match = matchOutput(shown, printed);
    if (match === null) expect(printed, `line ${line}: it prints something else`).toBe(shown.join('\n'));
    for (const [text, value] of match?.values ?? []) this.#values.set(text, value);
  }

  get #open(): PageShell {
    if (this.#shell === null) throw new Error('there is no shell yet');
    return this.#shell;
  }
}

/** SIGINT ends a program well, or by that signal. */
async function interrupted({ line, command }: ShownCommand, running: Running): Promise<void> {
  const { code, output } = await running.interrupt();
  expect([0, 130], `line ${line}: ${command}\n${output}`).toContain(code);
}
