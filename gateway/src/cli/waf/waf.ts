/** `gw waf`: commands about the firewall (docs/waf.md). */
import { Command } from 'commander';
import type { Program } from '../command-line/program.ts';
import { reportCommand } from './report.ts';

export function wafCommand(program: Program): Command {
  const waf = new Command('waf')
    .description('Report what the firewall has found, with the exclusions to write.')
    .addHelpText('after', '\nExamples:\n  $ gw waf report gw.log\n  $ kubectl logs -l app=gw | gw waf report');
  waf.addCommand(reportCommand(program).exitOverride());
  return waf;
}
