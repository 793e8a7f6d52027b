/** Settings of the HTTPS listener of webhooks and link, from the options of `gw-operator run`. */
import type { SecureListenerOptions } from '../certificates/secure-listener.ts';
import type { WebhookConfigurations } from './configurations.ts';

export interface ListenerOptions extends Omit<SecureListenerOptions, 'namespace' | 'services' | 'onCertificate'> {
  /** Webhook configurations whose path the operator maintains, and `caBundle` if it makes the certificates. */
  readonly webhooks: WebhookConfigurations;
  /** Service by which API servers reach the webhooks; absent: there are no webhooks. */
  readonly webhookService?: string;
  /** Service without a selector by which pods reach the leader; absent: there is no link. */
  readonly linkService?: string;
}
