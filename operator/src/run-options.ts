/** Settings of `gw-operator run`. */
import type { PodPolicy } from './objects/pod-policy.ts';
import type { EgressSettings } from './sources/open-fetcher.ts';
import type { ListenerOptions } from './webhooks/listener-options.ts';

export interface RunOptions {
  /** Namespaces to watch; empty means all. */
  readonly namespaces: readonly string[];
  /** Label selector of the watched namespaces, in the form of kubectl's `-l`; followed as labels change. */
  readonly namespaceSelector?: string;
  /** Image of gateway pods if a project names none. */
  readonly image: string;
  /** Namespace of the operator: its Lease and its NetworkPolicy peers. Default: the kubeconfig's or the pod's. */
  readonly namespace?: string;
  readonly leaderElection: boolean;
  /** Host and port of health and metrics. */
  readonly bind: { readonly host: string; readonly port: number };
  /** Reconciles at once, a controller. */
  readonly workers: number;
  /** HTTPS listener of webhooks and link; absent: there is neither. */
  readonly listener?: ListenerOptions;
  /** Address at which pods reach this replica; default: the first address of this machine, in a pod the pod's. */
  readonly linkAddress?: string;
  /** Projects whose pods are replaced at once because the operator changed; 0: all. */
  readonly updatesAtOnce: number;
  /** How far projects may go with their pods and Secrets. */
  readonly policy: PodPolicy;
  /** Registries and URLs that users name. */
  readonly egress: EgressSettings;
  /** Name of this replica; default: the pod's name, or outside a pod the host's name with a unique suffix. */
  readonly identity?: string;
}
