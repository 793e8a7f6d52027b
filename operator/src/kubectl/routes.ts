/** `kubectl gw routes`: the routes of a project. */
import { renderRoutes, routesOf } from '@gw/gateway/command-line';
import type { AddCommand } from '../program.ts';
import { addClusterOptions, type ClusterFlags, projectOf, withCluster } from './cluster.ts';
import { type Format, formatted, outputOption } from './output.ts';
import { revision as revisionNumber } from './revision-option.ts';
import { artifactOf, revisionOf } from './revisions.ts';

interface Flags extends ClusterFlags {
  readonly revision?: number;
  readonly output: Format;
}

export const routesCommand: AddCommand = (parent, { stdout }) => {
  addClusterOptions(parent.command('routes'))
    .description('list the routes that a project serves')
    .argument('[project]', 'GatewayProject; default: the only one in the namespace')
    .option('--revision <number>', 'show another revision than the served one', revisionNumber)
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  $ kubectl gw routes shop
  $ kubectl gw routes shop --revision 3 -o json`,
    )
    .action((name: string | undefined, flags: Flags) =>
      withCluster(flags, async (cluster) => {
        const project = await projectOf(cluster, name);
        const revision = revisionOf(project, flags.revision);
        const routes = routesOf(await artifactOf(cluster, project, revision));
        stdout(formatted(flags.output, { revision: revision.revision, routes }, () => renderRoutes(routes)));
      }),
    );
};
