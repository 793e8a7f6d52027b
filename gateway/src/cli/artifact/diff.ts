/** `gw diff`: changes in a newer artifact, for callers of the API. */
import { Command } from 'commander';
import { structured } from '../command-line/output-format.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { formatOption, presence } from '../command-line/variables.ts';
import { openArtifact } from './open-artifact.ts';

interface Flags {
  readonly format: 'text' | 'json' | 'yaml';
  readonly exitCode: boolean;
}

/** An artifact cannot be read: a code apart from breaking changes, as diff(1) tells trouble from differences. */
const EXIT_TROUBLE = 2;

const HELP = `
Examples:
  $ gw diff released.gwa api.gwa
  $ gw diff released.gwa api.gwa --exit-code --format json

"!" marks a breaking change: the gateway may refuse a request that was valid before, forward less of it, or give an
answer that the old document does not describe. The output leaves out values of config.
It compares responses by status and content type, and by schema if both artifacts validate them
(x-gw-validate-response). Adding a middleware that can refuse requests is a breaking change.
It compares tools by what agents see: arguments, texts, annotations, answers.

The JSON has "breaking", how many changes break, and "changes", each {subject, breaking, message}.

Exit codes: 0 compared, 1 there are breaking changes (with --exit-code), 2 an artifact cannot be read.`;

export function diffCommand(program: Program): Command {
  return new Command('diff')
    .description('Compare two artifacts, and mark changes that break clients.')
    .argument('<old>', 'artifact file, or folder of its parts')
    .argument('<new>', 'artifact file, or folder of its parts')
    .addOption(presence('--exit-code', 'exit with 1 if there are breaking changes', program))
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((before: string, after: string, flags: Flags) => run(before, after, flags, program));
}

async function run(before: string, after: string, { format, exitCode }: Flags, program: Program): Promise<void> {
  const { describedStatuses, diffArtifacts, renderChanges } = await import('../../diff/index.ts');
  const old = await openArtifact('diff', before, [], program, EXIT_TROUBLE);
  if (!old) return;
  const now = await openArtifact('diff', after, [], program, EXIT_TROUBLE);
  if (!now) return;
  const [wasDescribed, isDescribed] = [await describedStatuses(old), await describedStatuses(now)];
  const changes = diffArtifacts({ ...old, statuses: wasDescribed }, { ...now, statuses: isDescribed });
  const breaks = changes.filter((change) => change.breaking).length;
  program.stdout((await structured(format, { breaking: breaks, changes })) ?? renderChanges(changes));
  program.exit(exitCode && breaks > 0 ? EXIT_FAILURE : 0);
}
