/** `kubectl gw diff`: the changes of a revision for clients of the API. */
import { describedStatuses, diffArtifacts, renderChanges } from '@gw/gateway/diff';
import type { AddCommand } from '../program.ts';
import { addClusterOptions, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { type Format, formatted, outputOption } from './output.ts';
import { revision as revisionNumber } from './revision-option.ts';
import { artifactOf, revisionOf } from './revisions.ts';

interface Flags extends ClusterFlags {
  readonly from?: number;
  readonly to?: number;
  readonly exitCode?: boolean;
  readonly output: Format;
}

export const diffCommand: AddCommand = (parent, { stdout, endWith }) => {
  addClusterOptions(parent.command('diff'))
    .description('compare two revisions of a project, and mark changes that break clients')
    .argument('[project]', 'GatewayProject; default: the only one in the namespace')
    .option('--from <number>', 'older revision; default the one before --to', revisionNumber)
    .option('--to <number>', 'newer revision; default the newest', revisionNumber)
    .option('--exit-code', 'exit with 1 if there are breaking changes')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw diff shop
  $ kubectl gw diff shop --from 3 --to 7
  $ kubectl gw diff shop --exit-code -o json

Where another revision than the newest is served, --from is by default the served one.`,
    )
    .action((name: string | undefined, flags: Flags) =>
      withCluster(flags, async (cluster) => {
        const project = await projectOf(cluster, name);
        const { status } = project;
        const to = revisionOf(project, flags.to ?? status?.latestRevision);
        const older = (status?.revisions ?? []).filter(({ revision }) => revision < to.revision);
        const served = older.find(({ revision }) => revision === status?.revision);
        const from = flags.from ?? (served ?? older[0])?.revision;
        if (from === undefined) {
          throw new Error(`there is no revision before ${to.revision} to compare it with: choose one with --from`);
        }
        const [before, after] = await Promise.all([
          artifactOf(cluster, project, revisionOf(project, from)),
          artifactOf(cluster, project, to),
        ]);
        const [was, is] = [await describedStatuses(before), await describedStatuses(after)];
        const changes = diffArtifacts({ ...before, statuses: was }, { ...after, statuses: is });
        const breaking = changes.filter((change) => change.breaking).length;
        const value = { from, to: to.revision, breaking, changes };
        stdout(formatted(flags.output, value, () => `revision ${from} to ${to.revision}\n${renderChanges(changes)}`));
        if (flags.exitCode && breaking > 0) endWith(1);
      }),
    );
};
