import { wholeNumber } from '@gw/gateway/command-line';
import { Option } from 'commander';
import { pino } from 'pino';
import { splitList } from '../config.ts';
import type { AddCommand } from '../program.ts';
import { parseAddress } from './address.ts';
import { addEgressOptions, type EgressFlags, egressSettings } from './egress-options.ts';
import { addListenerOptions, type ListenerFlags, listenerOptions } from './listener-options.ts';
import { addPolicyOptions, type PolicyFlags, podPolicy } from './policy-options.ts';

interface Options extends ListenerFlags, EgressFlags, PolicyFlags {
  readonly namespaces: readonly string[];
  readonly namespaceSelector?: string;
  readonly image?: string;
  readonly namespace?: string;
  readonly leaderElection: boolean;
  readonly bind: ReturnType<typeof parseAddress>;
  readonly workers: number;
  readonly updatesAtOnce: number;
  readonly logLevel: string;
}

/** `gw-operator run`: the controllers on a cluster. */
export const runCommand: AddCommand = (parent, { environment, stopped }) => {
  const command = parent
    .command('run')
    .description('reconcile the kinds of gw.dev on a cluster')
    .option(
      '--image <image>',
      'image of gateway pods, for GatewayProjects that name none (GW_OPERATOR_IMAGE)',
      environment.image,
    )
    .option(
      '--namespaces <list>',
      'namespaces to look at, comma-separated (GW_OPERATOR_NAMESPACES); default all',
      splitList,
      environment.namespaces,
    )
    .option(
      '--namespace-selector <selector>',
      'of all namespaces those whose labels match, such as gw.dev/watch=true (GW_OPERATOR_NAMESPACE_SELECTOR)',
      environment.namespaceSelector,
    )
    .option(
      '--namespace <name>',
      "namespace of the operator itself (POD_NAMESPACE); default the kubeconfig's",
      environment.namespace,
    )
    .option('--no-leader-election', 'start without leader election: only with one replica')
    .addOption(
      new Option('--bind <host:port>', 'listen address of health and metrics')
        .argParser(parseAddress)
        .default({ host: '0.0.0.0', port: 8080 }, '0.0.0.0:8080'),
    )
    .option('--workers <n>', 'number of concurrent reconciles per controller', wholeNumber(1, 64), 2)
    .option(
      '--updates-at-once <n>',
      'GatewayProjects whose pods are replaced at once because the operator changed, such as by an upgrade; one that fails keeps its place; 0: all at once',
      wholeNumber(0, 10_000),
      5,
    )
    .addOption(
      new Option('--log-level <level>', 'minimum level to log')
        .choices(['trace', 'debug', 'info', 'warn', 'error'])
        .default('info'),
    );
  addPolicyOptions(addEgressOptions(addListenerOptions(command)))
    .addHelpText(
      'after',
      `
The cluster is that of KUBECONFIG or ~/.kube/config, inside a pod the pod's own.

Examples:
  $ gw-operator run --image registry.example.org/gw:0.8.0
  $ gw-operator run --image gw:dev --namespaces shop,billing --no-leader-election`,
    )
    .action(async ({ image, namespace, logLevel, ...options }: Options) => {
      if (options.namespaces.length > 0 && options.namespaceSelector)
        throw new Error('--namespaces and --namespace-selector exclude each other: leave one out');
      if (!image) throw new Error('no image for gateway pods: give --image or set GW_OPERATOR_IMAGE');
      const log = pino({
        level: logLevel,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      });
      const listener = listenerOptions(options);
      // Loaded here: an init container that fetches need not wait for the controllers.
      const { run } = await import('../run.ts');
      // Called before the start: releases a Lease acquired meanwhile.
      const asked = stopped();
      const operator = await run(
        {
          ...options,
          image,
          ...(listener ? { listener } : {}),
          egress: egressSettings(options),
          policy: podPolicy(options),
          ...(namespace ? { namespace } : {}),
          ...(environment.podName ? { identity: environment.podName } : {}),
        },
        log,
      );
      try {
        await Promise.race([asked, operator.stopped]);
      } finally {
        log.info('stopping');
        await operator.close();
      }
    });
};
