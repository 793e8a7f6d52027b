/** Options of the HTTPS listener: its address, its names and its certificate. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { messageOf } from '@gw/gateway/message-of';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { certificatesOf } from '../certificates/serving-state.ts';
import { splitList } from '../config.ts';
import type { ListenerOptions } from '../webhooks/listener-options.ts';
import { parseAddress } from './address.ts';

export interface ListenerFlags {
  readonly serveBind: ReturnType<typeof parseAddress>;
  readonly webhookService?: string;
  readonly linkService?: string;
  readonly linkAddress?: string;
  readonly tlsDir?: string;
  readonly tlsName: readonly string[];
  readonly webhookClientCa?: string;
  readonly validatingWebhook?: readonly string[];
  readonly mutatingWebhook?: readonly string[];
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function parseService(text: string): string {
  if (!DNS_LABEL.test(text)) throw new InvalidArgumentError('expected the name of a Service');
  return text;
}

function parseName(text: string, before: readonly string[]): readonly string[] {
  if (!DNS_NAME.test(text) && !isIP(text)) throw new InvalidArgumentError('expected a DNS name or an IP address');
  return [...before, text];
}

function parseIp(text: string): string {
  if (!isIP(text)) throw new InvalidArgumentError('expected an IP address');
  return text;
}

function readCertificates(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be read: ${messageOf(error)}`);
  }
  if (certificatesOf(text).length === 0) throw new InvalidArgumentError('expected certificates in PEM');
  return text;
}

export function addListenerOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--serve-bind <host:port>', 'HTTPS listener of webhooks and of the data-plane link')
        .argParser(parseAddress)
        .default({ host: '0.0.0.0', port: 9443 }, '0.0.0.0:9443'),
    )
    .option(
      '--webhook-service <name>',
      'Service, in the namespace of the operator, by which API servers reach its webhooks; without it there are none',
      parseService,
    )
    .option(
      '--link-service <name>',
      'Service without a selector, in the namespace of the operator, by which pods reach its leader for new artifacts; without it there is no link',
      parseService,
    )
    .addOption(
      new Option(
        '--link-address <ip>',
        "address by which pods reach this replica, for the link's Service; default: the first of this machine",
      ).argParser(parseIp),
    )
    .option(
      '--tls-dir <folder>',
      'tls.crt, tls.key and ca.crt of the listener, read again when they change, as cert-manager mounts them; default: a certificate that the operator makes and renews',
    )
    .addOption(
      new Option('--tls-name <name>', 'additional DNS name or IP address of that certificate (repeatable)')
        .argParser(parseName)
        .default([]),
    )
    .option(
      '--validating-webhook <list>',
      'ValidatingWebhookConfigurations whose path the operator keeps, and caBundle unless there is --tls-dir, comma-separated',
      splitList,
    )
    .option(
      '--mutating-webhook <list>',
      'MutatingWebhookConfigurations whose path the operator keeps, and caBundle unless there is --tls-dir, comma-separated',
      splitList,
    )
    .option(
      '--webhook-client-ca <file>',
      'PEM of the authority of the certificates that API servers must show to webhooks; default: they show none',
      readCertificates,
    );
}

/** Returns undefined if there is nothing to serve: then there is no listener. */
export function listenerOptions(flags: ListenerFlags): ListenerOptions | undefined {
  const { serveBind, webhookService, linkService, tlsDir, tlsName } = flags;
  if (!webhookService && !linkService) return undefined;
  return {
    ...serveBind,
    ...(webhookService ? { webhookService } : {}),
    ...(linkService ? { linkService } : {}),
    names: tlsName,
    ...(tlsDir ? { folder: tlsDir } : {}),
    ...(flags.webhookClientCa ? { clientCa: flags.webhookClientCa } : {}),
    webhooks: { validating: flags.validatingWebhook ?? [], mutating: flags.mutatingWebhook ?? [] },
  };
}
