/** `gw trace`: sends a request through a running gateway, and shows the decision of each stage. */
import { Command } from 'commander';
import { get } from '../../spec/json.ts';
import { messageOf } from '../../text/message-of.ts';
import type { TraceReport } from '../../trace/report.ts';
import { structured } from '../command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { formatOption, option } from '../command-line/variables.ts';
import { addTraceOptions, type TraceFlags, traceRequestOf } from './trace-options.ts';
import { renderTrace } from './trace-report.ts';

interface Flags extends TraceFlags {
  readonly admin: string;
  readonly format: 'text' | 'json' | 'yaml';
}

const HELP = `
Examples:
  $ gw trace /books
  $ gw trace '/books?limit=0' -H 'x-api-key: demo-key'
  $ gw trace /books -d '{"title":"Emma"}' -H 'content-type: application/json'
  $ gw trace --admin http://127.0.0.1:9901 -X DELETE /books/7 --format json

It is a real request: plugins count it and the upstream gets it. Names of headers and context keys are shown, their
values only in the response.

Exit codes: 0 the request was answered, whatever its status; 1 the gateway could not be asked.`;

export function traceCommand(program: Program): Command {
  return addTraceOptions(
    new Command('trace')
      .description('Send a request through a running gateway, and show what each stage decides.')
      .argument('<target>', 'path and query'),
  )
    .addOption(option('--admin <url>', "URL of the gateway's admin port").default('http://127.0.0.1:8081'))
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((target: string, flags: Flags) => run(target, flags, program));
}

async function run(target: string, flags: Flags, program: Program): Promise<void> {
  try {
    const report = await ask(flags.admin, target, flags);
    program.stdout((await structured(flags.format, report)) ?? renderTrace(report));
    program.exit(0);
  } catch (error) {
    program.stderr(`gw trace: ${messageOf(error)}\n`);
    program.exit(EXIT_FAILURE);
  }
}

async function ask(admin: string, target: string, flags: Flags): Promise<TraceReport> {
  let answer: Response;
  try {
    answer = await fetch(new URL('/trace', admin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(traceRequestOf(target, flags)),
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
    throw new Error(`no gateway answers at ${admin}: ${cause}. Give its --admin-bind with --admin.`, { cause: error });
  }
  const body: unknown = await answer.json();
  if (answer.ok) return body as TraceReport;
  throw new Error(`${admin} answers ${answer.status}: ${String(get(body, 'detail') ?? get(body, 'title'))}`);
}
