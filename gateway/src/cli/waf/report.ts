/** `gw waf report`: what the firewall found in an access log, with the exclusions to write (docs/waf.md). */
import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { messageOf } from '../../text/message-of.ts';
import { printable } from '../../text/printable.ts';
import { wholeNumber } from '../command-line/options.ts';
import { structured } from '../command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { formatOption, option, presence } from '../command-line/variables.ts';
import { AuditCounts, MOST_NETWORKS } from './audit-counts.ts';
import { auditLineOf } from './audit-line.ts';
import { auditReport } from './audit-report.ts';
import { eachLine } from './lines.ts';
import { reportText } from './report-text.ts';

interface Flags {
  readonly all: boolean;
  readonly minNetworks: number;
  readonly exitCode: boolean;
  readonly format: 'text' | 'json' | 'yaml';
}

/** A log cannot be read: a code apart from refusals, as `gw diff` has it. */
const EXIT_TROUBLE = 2;
const STANDARD_INPUT = '-';

const HELP = `
Examples:
  $ gw waf report gw.log
  $ kubectl logs -l app=gw --tail=-1 | gw waf report --min-networks 3
  $ zcat gw.log.*.gz | gw waf report --all
  $ gw waf report gw.log --format json
  $ gw waf report tests.log --exit-code

Reads access logs (JSON lines) from files or standard input, and lists by operation which rules of waf matched, at which
variables, in how many requests from how many networks of clients, and how many of these were refused, or would be in
mode "block". It ends with the exclusions to write into the config of waf: by parameter where the variable is one,
otherwise by operation. They are for requests that are harmless: what one network sent may be an attack.

Only requests that a rule matched are in the log, unless "audit_log" of the config says otherwise.

The JSON has "operations", each with "rules", their "variables" and the "exclusion" of each, and "exclusions" in all.

Exit codes: 0 reported, 1 requests were or would be refused (with --exit-code), 2 a log cannot be read.`;

export function reportCommand(program: Program): Command {
  return new Command('report')
    .description('Report the rules that matched in access logs, with the exclusions to write.')
    .argument('[logs...]', 'files of log lines; - or none: standard input')
    .addOption(presence('--all', 'write exclusions also for rules whose requests all pass', program))
    .addOption(
      option('--min-networks <count>', 'least networks of clients for an exclusion')
        .argParser(wholeNumber(1, MOST_NETWORKS))
        .default(1),
    )
    .addOption(presence('--exit-code', 'exit with 1 if requests were or would be refused', program))
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((logs: readonly string[], flags: Flags) => run(logs, flags, program));
}

async function run(logs: readonly string[], flags: Flags, program: Program): Promise<void> {
  const counts = new AuditCounts();
  const lines = { lines: 0, unreadable: 0 };
  const take = (line: Buffer | null) => {
    lines.lines++;
    const audit = line === null ? undefined : auditLineOf(line);
    if (audit === undefined) lines.unreadable++;
    else if (audit !== null) counts.add(audit);
  };
  for (const log of logs.length === 0 ? [STANDARD_INPUT] : logs) {
    try {
      await eachLine(log === STANDARD_INPUT ? program.input() : createReadStream(log), take);
    } catch (error) {
      program.stderr(`gw waf report: cannot read ${printable(log)}: ${printable(messageOf(error))}\n`);
      return program.exit(EXIT_TROUBLE);
    }
  }
  const report = auditReport(counts, lines, flags);
  if (lines.unreadable > 0) program.stderr(`gw waf report: lines that cannot be read: ${lines.unreadable}\n`);
  if (report.requests === 0) program.stderr(NOTHING_FOUND);
  program.stdout((await structured(flags.format, report)) ?? (report.requests === 0 ? '' : reportText(report)));
  program.exit(flags.exitCode && report.refused > 0 ? EXIT_FAILURE : 0);
}

const NOTHING_FOUND = `gw waf report: no request has the member waf: no rule matched, the lines are not JSON (--log-format), the log level is above info,
or "audit_log" of the config is "none"
`;
