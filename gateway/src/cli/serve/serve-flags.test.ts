import { Command, type CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { flagName, type OptionEntry, variableName } from '../../options/option-table.ts';
import { SERVE_OPTIONS } from '../../options/options.ts';
import { optionNames, serveDefaults, serveOption } from './serve-flags.ts';

const entries = Object.entries<OptionEntry>(SERVE_OPTIONS);

function parse(args: readonly string[]): Record<string, unknown> {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const name of optionNames()) command.addOption(serveOption(name));
  return command.parse(args, { from: 'user' }).opts();
}

function refusal(args: readonly string[]): string {
  try {
    parse(args);
    return '';
  } catch (error) {
    return (error as CommanderError).message;
  }
}

describe('options of gw serve', () => {
  it('have the defaults of the table', () => {
    expect(parse([])).toEqual(serveDefaults());
  });

  it.each(
    entries.flatMap(([name, entry]) =>
      entry.type === 'integer' || entry.type === 'seconds'
        ? [[flagName(name), entry.minimum, entry.maximum] as const]
        : [],
    ),
  )('%s is from %d to %s, and no less or more', (flag, minimum, maximum) => {
    for (const ok of [minimum, maximum ?? 2 ** 40]) expect(refusal([flag, String(ok)])).toBe('');
    for (const wrong of [minimum - 1, minimum / 2 - 0.01, (maximum ?? 2 ** 60) + 1, Number.NaN]) {
      expect(refusal([flag, String(wrong)]), String(wrong)).toContain('Give ');
    }
  });

  it('take what their type allows', () => {
    expect(parse(['--listen', '[::1]:9000', '--egress-allow', 'a,b', '--egress-allow=c'])).toMatchObject({
      listen: { host: '::1', port: 9000 },
      egressAllow: ['a', 'b', 'c'],
    });
    expect(parse(['--dev', '--expose-health=false', '--trace-sampling', '.5'])).toMatchObject({
      dev: true,
      exposeHealth: false,
      traceSampling: 0.5,
    });
    // Commander makes an empty string of null.
    expect(parse(['--admin-bind', 'off'])['adminBind']).toBeFalsy();
    expect(refusal(['--state-prefix', 'a b'])).toContain('Give a name of letters');
    expect(refusal(['--log-level', 'loud'])).toContain('Allowed choices are trace');
    expect(parse(['--workers', 'auto'])['workers']).toBeGreaterThan(0);
  });

  it('are variables by the same names', () => {
    for (const name of optionNames()) expect(serveOption(name).envVar).toBe(variableName(flagName(name)));
  });
});
