/** Rules that hold for every command of every program, by a walk over their command trees. */

import { Writable } from 'node:stream';
import type { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { controlCommand } from '../../control/src/cli/gw-control.ts';
import { completionScript } from '../../gateway/src/cli/command-line/completion.ts';
import { gwCommand } from '../../gateway/src/cli/gw.ts';
import { gwOperatorCommand } from '../../operator/src/cli/gw-operator.ts';
import { readEnvironment } from '../../operator/src/config.ts';
import { kubectlGwCommand } from '../../operator/src/kubectl/command.ts';

const nothing = () => undefined;
const never = () => new Promise<void>(nothing);
const operator = {
  ...{ environment: readEnvironment({}, false), stdout: nothing, stderr: nothing, endWith: nothing },
  ...{ stopped: never, gwEntry: '' },
};
const programs: readonly Command[] = [
  await gwCommand({
    ...{ env: {}, stdout: nothing, stderr: nothing, exit: nothing, onSignal: nothing },
    stdin: async () => new Uint8Array(0),
    input: async function* () {},
  }),
  controlCommand({
    ...{ env: {}, stdout: nothing, stderr: nothing, stopped: never, interactive: false },
    ...{ output: new Writable(), stdin: async () => Buffer.alloc(0) },
  }),
  gwOperatorCommand(operator),
  kubectlGwCommand(operator),
];

interface Walked {
  readonly name: string;
  readonly command: Command;
  /** kubectl's own options have kubectl's names there. */
  readonly isKubectl: boolean;
}

function walk(command: Command, above: string, isKubectl: boolean): readonly Walked[] {
  const name = `${above} ${command.name()}`.trim();
  const kubectl = isKubectl || ['kubectl', 'kubectl-gw'].includes(command.name());
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help');
  return [{ name, command, isKubectl: kubectl }, ...below.flatMap((each) => walk(each, name, kubectl))];
}

const commands = programs.flatMap((program) => walk(program, '', false)).map((each) => [each.name, each] as const);
const options = commands.flatMap(([name, { command, isKubectl }]) =>
  command.options
    .filter(({ hidden }) => !hidden)
    .map((option): [string, Option, boolean] => [`${name} ${option.flags}`, option, isKubectl]),
);

describe('each command', () => {
  it.each(commands)('%s is described by one sentence', (_, { command }) => {
    expect(command.description()).toMatch(/^[A-Z].*[^.]\.$/s);
  });

  it.each(commands)('%s describes its arguments and options as phrases', (_, { command }) => {
    const visible = command.options.filter(({ hidden }) => !hidden);
    for (const { description } of visible) expect(description).toMatch(/^(?!$).*[^.]$/s);
  });
});

describe('each option', () => {
  it.each(options)(
    '%s: formats are --format, and files are --output',
    (_, { short, long, argChoices, flags }, isKubectl) => {
      const choices = argChoices ?? [];
      const isFormat = choices.includes('json') && choices.includes('yaml');
      if (isKubectl) {
        expect(isFormat || choices.join() === 'text,json').toBe(long === '--output');
        if (long === '--output') expect(short).toBe('-o');
        return;
      }
      if (isFormat) expect(long).toBe('--format');
      if (long === '--format') {
        expect(isFormat).toBe(true);
        expect(['text', 'table']).toContain(choices[0]);
      }
      if (long === '--output' || short === '-o') expect(flags).toMatch(/^-o, --output <(?:file|path)>$/);
      expect(long).not.toBe('--json');
    },
  );
});

/** Commands that print nothing for programs to read, or nothing but that. */
const WITHOUT_FORMAT = new Set([
  ...['gw init', 'gw dev', 'gw serve', 'gw-control serve', 'gw-operator run', 'gw-operator local'],
  ...['gw plugin init', 'gw plugin build', 'gw plugin pack', 'gw-operator fetch', 'gw-control seed-plugins'],
  // These commands print a file: a script, a part of gw.yaml, manifests.
  ...['completion', 'pin', 'crds', 'manifests'],
  // One line about what has been done; `status -o json` says what has become of it.
  ...['rollback', 'promote', 'pause', 'abort', 'retry', 'resume', 'wait', 'support-bundle'],
  ...['gw-control context set', 'gw-control context use', 'gw-control context delete'],
]);

describe('each command that prints a result', () => {
  const leaves = commands.filter(([, { command }]) => command.commands.length === 0);
  it.each(leaves)('%s prints it for programs, too', (name, { command, isKubectl }) => {
    const has = command.options.some(({ long }) => long === (isKubectl ? '--output' : '--format'));
    expect(has || WITHOUT_FORMAT.has(name) || WITHOUT_FORMAT.has(command.name())).toBe(true);
  });
});

describe('older spellings', () => {
  it('go on working, and are in no help', () => {
    const [gw, control] = programs;
    const test = gw?.commands.find((each) => each.name() === 'plugin')?.commands.find((each) => each.name() === 'test');
    const list = control?.commands
      .find((each) => each.name() === 'projects')
      ?.commands.find((each) => each.name() === 'list');
    for (const command of [test, list]) {
      expect(command?.helpInformation()).not.toContain('--json');
      expect(command?.helpInformation()).toContain('--format <format>');
      command?.parseOptions(['--json']);
      expect(command?.options.some(({ long }) => long === '--json')).toBe(true);
    }
  });
});

describe('completion', () => {
  it.each(programs.map((program) => [program.name(), program] as const))(
    'of %s completes that program',
    (name, program) => {
      const command = program.commands.find((each) => each.name() === 'completion');
      expect(command?.description()).toBe(`Print a shell completion script for ${name}.`);
      const script = completionScript('bash', program);
      expect(script).toContain(`complete -o default -F _${name.replaceAll('-', '_')} ${name}\n`);
      const visible = walk(program, '', false).filter(({ command: each }) => each.parent === program);
      for (const { command: each } of visible) expect(script).toContain(each.name());
      const shown = new Set(visible.map(({ command: each }) => each.name()));
      for (const each of program.commands) if (!shown.has(each.name())) expect(script).not.toContain(`${each.name()}:`);
    },
  );
});
