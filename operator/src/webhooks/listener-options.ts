/** The HTTPS listener of webhooks and link, as `gw-operator run` is told of it. */
import type { SecureListenerOptions } from '../certificates/secure-listener.ts';
import type { WebhookConfigurations } from './configurations.ts';

export interface ListenerOptions extends Omit<SecureListenerOptions, 'namespace' | 'services' | 'onCertificate'> {
  /** Webhook configurations whose path the operator keeps, and `caBundle` where it makes the certificates. */
  readonly webhooks: WebhookConfigurations;
  /** Service by which API servers reach our webhooks; absent: there are none. */
  readonly webhookService?: string;
  /** Service without a selector by which pods reach the leader; absent: there is no link. */
  readonly linkService?: string;
}
