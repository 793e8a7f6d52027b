import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../config.ts';
import { kubectlGwCommand } from '../kubectl/command.ts';
import { gwOperatorCommand } from './gw-operator.ts';

const program = {
  environment: readEnvironment({}, false),
  stdout: () => undefined,
  stderr: () => undefined,
  stopped: () => new Promise<void>(() => undefined),
  endWith: () => undefined,
  gwEntry: '',
};

describe('gw-operator', () => {
  it('is kubectl gw by another name, and lists that once', () => {
    const command = gwOperatorCommand(program);
    const own = kubectlGwCommand(program).commands.map((each) => each.name());
    const names = command.commands.map((each) => each.name());
    expect(names.filter((name) => own.includes(name)).toSorted()).toEqual(own.toSorted());
    expect(new Set(names).size).toBe(names.length);
    expect(command.helpInformation()).not.toContain('rollback');
  });
});
