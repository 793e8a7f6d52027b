import { Option } from 'commander';
import { Report } from '../local/report.ts';
import type { AddCommand } from '../program.ts';
import { parseAddress } from './address.ts';
import { addEgressOptions, type EgressFlags, egressSettings } from './egress-options.ts';

interface Options extends EgressFlags {
  readonly listen: ReturnType<typeof parseAddress>;
  readonly console: ReturnType<typeof parseAddress> | null;
  readonly allowCommands: boolean;
  readonly dev: boolean;
  readonly verbose: boolean;
}

/** `gw-operator local DIR`: the controllers without a cluster. */
export const localCommand: AddCommand = (parent, { environment, gwEntry, stdout, stopped }) => {
  const command = parent
    .command('local')
    .description('run the manifests of a folder on this machine, without a cluster')
    .argument('[dir]', 'folder with manifests of GatewayProject, ApiSpec, PluginRef and Deployment', '.')
    .addOption(
      new Option('--listen <host:port>', 'listen address of the gateway; a second GatewayProject takes the next port')
        .argParser(parseAddress)
        .default({ host: '127.0.0.1', port: 8080 }, '127.0.0.1:8080'),
    )
    .addOption(
      new Option('--console <host:port>', 'listen address of the control plane and its web console, or "off"')
        .argParser((text) => (text === 'off' ? null : parseAddress(text)))
        .default({ host: '127.0.0.1', port: 9090 }, '127.0.0.1:9090'),
    )
    .option(
      '--allow-commands',
      "run the commands of containers too, and not the gateway's program alone, with your rights: for manifests that you trust",
      false,
    )
    .option('--dev', 'run the gateways in development mode: a 400 names the fields that are wrong', false)
    .option('-v, --verbose', 'show what becomes of each object, and the output of the processes', false);
  addEgressOptions(command)
    .addHelpText(
      'after',
      `
Pods are processes, Services are relays on this machine; besides the kinds of gw.dev it knows
ConfigMap, Secret, Service and apps/v1 Deployment. Files are read again when they change.

Examples:
  $ gw-operator local examples/bookstore --allow-commands --dev
  $ gw-operator local deploy/ --listen 127.0.0.1:9000
  $ gw-operator local . --console off --verbose`,
    )
    .action(async (dir: string, options: Options) => {
      const report = new Report(stdout, { colour: environment.colour, verbose: options.verbose });
      // Loaded here, as for `run`.
      const { startLocal } = await import('../local/local.ts');
      // Registered before the start: processes that it has started by then are ended.
      const asked = stopped();
      const local = await startLocal(
        {
          dir,
          listen: options.listen,
          console: options.console,
          gwEntry,
          allowCommands: options.allowCommands,
          dev: options.dev,
          inherited: environment.inherited,
          egress: egressSettings(options),
        },
        report,
      );
      await asked;
      report.note('stopping');
      await local.close();
    });
};
