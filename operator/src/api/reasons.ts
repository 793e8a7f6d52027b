/**
 * The one table of reasons of conditions and Events: the meaning of each, the user's next step, and its Event.
 * docs/crds.md is generated from it.
 */
export interface Reason {
  /**
   * Type of its Event. `WarningOnceStalled`: Normal until the object stalls for the reason, since objects of one change
   * are applied in any order and a missing one may follow.
   */
  readonly event: 'Normal' | 'Warning' | 'WarningOnceStalled';
  readonly meaning: string;
  /** The user's next step; absent if there is nothing to do. */
  readonly action?: string;
}

export const REASONS = {
  // Injected
  Injected: { event: 'Normal', meaning: 'Every pod that asks for a sidecar of the project has one.' },
  SidecarMissing: {
    event: 'Warning',
    meaning:
      'A pod requests a sidecar but has none: it was created while the API server could not reach the webhook. Its traffic bypasses the gateway.',
    action:
      'Delete the pod or restart its workload; the operator never does so itself. Make sure that the API server can reach the webhook.',
  },
  // Reviewed
  WebhookDrift: {
    event: 'Warning',
    meaning:
      'Webhook configurations have a path other than the one that the operator sets, or the operator may not write them: invalid objects may be admitted, and pods may start without their sidecars. The condition lasts for as long as this does.',
    action:
      'Make whatever changes the path omit it, as the chart does (have a GitOps tool ignore clientConfig.caBundle and clientConfig.service.path); see the log of the operator.',
  },
  // Updated
  Updated: { event: 'Normal', meaning: 'The pods have been replaced and match what this operator generates.' },
  Updating: {
    event: 'Normal',
    meaning: 'The pods are being replaced because the operator changed: it was upgraded or its options changed.',
  },
  AwaitingUpdate: {
    event: 'Normal',
    meaning:
      'The operator changed and now generates different pods; those of other projects are being replaced first (--updates-at-once). The current pods keep serving, and changes to the project itself do not wait.',
  },
  UpdateFailed: {
    event: 'Warning',
    meaning:
      'The pods that were to replace those of an earlier operator did not become ready in time; the previous pods keep serving, and fewer other projects are updated at once until this one is.',
    action:
      "See `kubectl describe pod` of the gateway's pods: no room on the nodes or in a quota, an image that cannot be pulled, a wrong --pod-defaults. If the upgrade is at fault, roll it back.",
  },
  UpdateStopped: {
    event: 'Warning',
    meaning:
      'The operator changed, and replacing the pods failed for so many other projects that no more are attempted. The current pods keep serving, and changes to the project itself do not wait.',
    action: "See the operator's log for the projects; fix them, or roll the upgrade back.",
  },
  // Accepted
  Accepted: { event: 'Normal', meaning: 'The object is valid, and everything that it refers to exists.' },
  InvalidSpec: {
    event: 'Warning',
    meaning: 'The object contradicts itself; the message says where.',
    action: 'Correct the field that the message names.',
  },
  SourceNotFound: {
    event: 'WarningOnceStalled',
    meaning:
      'The ConfigMap or Secret that holds the document, plugin, key or credentials does not exist, or lacks the key.',
    action: 'Create it in the same namespace, or correct the name; it is picked up when it appears.',
  },
  CredentialNotGranted: {
    event: 'Warning',
    meaning:
      'A Secret would be sent to an address that it does not allow. This keeps users from having a Secret sent to a server of their own. Serving and existing links continue.',
    action:
      'If the address is right, give the Secret the label gw.dev/credential: "true" and the host in the annotation gw.dev/hosts, as the message says.',
  },
  SecretNotGranted: {
    event: 'Warning',
    meaning:
      'The operator uses Secrets only for the projects that they name (--require-secret-grants), and this one does not name the project. Serving continues.',
    action:
      'If the project may use it, name the project in the annotation gw.dev/projects of the Secret, as the message says.',
  },
  Fetching: {
    event: 'Normal',
    meaning: 'The document or plugin is being fetched from its registry or URL. Nothing else waits for it.',
  },
  Fetched: {
    event: 'Normal',
    meaning: 'The content in use is what the registry or URL had when it was last checked.',
  },
  SourceUnavailable: {
    event: 'Warning',
    meaning:
      'The registry or URL does not answer, rejects the request, or may not be connected to. The last content stays in use; the operator retries after five minutes at the latest.',
    action: 'See the message: the address, the credentials, or --egress-allow of the operator for internal addresses.',
  },
  SignatureInvalid: {
    event: 'Warning',
    meaning: 'None of the keys of spec.verify has signed the plugin. The last version stays in service.',
    action:
      'Sign this exact file or image with one of the keys, or correct the keys; never remove verify to get past this.',
  },
  SourceInvalid: {
    event: 'Warning',
    meaning:
      'The source exists, but its content cannot be used: not UTF-8, not gzip, not an archive, too large, or of the wrong version or hash.',
    action: 'Replace its content.',
  },
  SelectorNotSupported: {
    event: 'Warning',
    meaning:
      'A namespace selector matches nothing, since the operator watches only some namespaces and may not read the labels of others.',
    action: 'Name the namespaces in spec.allowedNamespaces.names, or let the operator watch all namespaces.',
  },
  PluginInvalid: {
    event: 'Warning',
    meaning:
      'The plugin package cannot be loaded: its manifest or module is invalid, or it imports a host function that it does not declare.',
    action: 'Correct the package; the message names the key and the line or import.',
  },
  SpecNotFound: {
    event: 'WarningOnceStalled',
    meaning: 'An ApiSpec that is named does not exist.',
    action: 'Create it, or remove its name from spec.specs.names.',
  },
  NoSpecs: {
    event: 'WarningOnceStalled',
    meaning: 'No ApiSpec is named or selected.',
    action: 'Label an ApiSpec as spec.specs.selector asks, or name one.',
  },
  SpecNotAccepted: {
    event: 'WarningOnceStalled',
    meaning: 'An ApiSpec has no document to compile.',
    action: 'See the Accepted condition of the ApiSpec.',
  },
  PluginNotFound: {
    event: 'WarningOnceStalled',
    meaning: 'A plugin is neither built in nor provided by a PluginRef.',
    action: 'Create the PluginRef, or correct the name in spec.plugins.',
  },
  PluginNotAccepted: {
    event: 'WarningOnceStalled',
    meaning: 'A PluginRef provides no plugin that can be compiled.',
    action: 'See the Accepted condition of the PluginRef.',
  },
  ProjectNotFound: {
    event: 'WarningOnceStalled',
    meaning: 'The GatewayProject does not exist.',
    action: 'Create it, or correct spec.project.',
  },
  NoSuchRevision: {
    event: 'WarningOnceStalled',
    meaning: 'No kept revision has that number or hash.',
    action: "Choose one of the GatewayProject's status.revisions; spec.revisionHistoryLimit says how many are kept.",
  },
  ApiNotInstalled: {
    event: 'Warning',
    meaning: 'The project needs an object of a kind that the cluster does not have. Everything else continues.',
    action:
      'Install the Gateway API (HTTPRoute) or the Prometheus operator (PodMonitor), or remove the field; the object is created once the kind exists.',
  },
  ApiNotAllowed: {
    event: 'Warning',
    meaning:
      "The project needs an object of a kind that the operator's role does not let it list. Everything else continues.",
    action:
      "Upgrade the chart with the operator's image, give the role the verbs that it has in the chart, or remove the field.",
  },
  // CertificateValid
  CertificateValid: {
    event: 'Normal',
    meaning: 'The certificate of the traffic port is valid and does not expire soon.',
  },
  CertificateExpiring: {
    event: 'Warning',
    meaning:
      'The certificate has less than a sixth of its lifetime left, or less than fourteen days: it should have been renewed by now.',
    action:
      'Find out why it was not renewed: with cert-manager, `kubectl describe certificate`. Otherwise replace the Secret.',
  },
  CertificateExpired: {
    event: 'Warning',
    meaning: 'The certificate has expired or is not valid yet: clients reject it. The pods keep serving it.',
    action: 'Replace the content of the Secret; pods load it without a restart.',
  },
  // Compiled
  Compiled: { event: 'Normal', meaning: 'The specs and plugins compile to the artifact of status.revisions[0].' },
  CompileFailed: {
    event: 'Warning',
    meaning: 'The specs and plugins do not compile. The last artifact stays in service.',
    action: 'Correct the first of status.diagnostics; each carries a code, a file, a JSON pointer and a hint.',
  },
  NotCompiled: {
    event: 'WarningOnceStalled',
    meaning: 'There is nothing to compile yet, or no GatewayProject uses the ApiSpec.',
    action: 'See Accepted.',
  },
  // Stored
  Stored: { event: 'Normal', meaning: 'The artifact is stored in immutable ConfigMaps, or in the registry.' },
  Storing: {
    event: 'Normal',
    meaning: 'The artifact is being pushed to the registry. The last artifact stays in service.',
  },
  RegistryUnavailable: {
    event: 'Warning',
    meaning:
      'The registry does not answer, or reports a temporary failure. The last artifact stays in service; the operator retries after a minute at the latest.',
    action: "See the message: the registry's health, its address, DNS and NetworkPolicies.",
  },
  PushRefused: {
    event: 'Warning',
    meaning:
      'The artifact cannot be pushed because of credentials, permissions, plain HTTP or an internal address. The last artifact stays in service; the operator retries after a minute at the latest.',
    action:
      'Correct what the message names: spec.storage.oci and its pushSecret, or --egress-allow and --plain-http-registry of the operator.',
  },
  ArtifactExchanged: {
    event: 'Warning',
    meaning: 'The content of a ConfigMap of an artifact did not match its name and annotations; it is recreated.',
    action: 'Check who may delete and create ConfigMaps in the namespace.',
  },
  ArtifactLost: {
    event: 'Warning',
    meaning:
      'The ConfigMaps or the image of the served revision were deleted, and it cannot be recreated because the specs no longer compile to it. Running pods keep serving it; new ones cannot start.',
    action: 'Correct what does not compile, or deploy another revision.',
  },
  ImageNotDeleted: {
    event: 'Warning',
    meaning: 'An image that is no longer needed stays in its registry, which does not let the operator delete it.',
    action:
      "Allow the user of pushSecret to delete, or let the registry's own retention do it. Nothing else depends on it.",
  },
  ArtifactTooLarge: {
    event: 'Warning',
    meaning: 'The artifact needs more than eight ConfigMaps of 900 KiB.',
    action: 'Set spec.storage.type to OCI, split the project, or leave out plugins and files that no operation uses.',
  },
  NotStored: { event: 'Normal', meaning: 'There is no artifact yet.', action: 'See Compiled.' },
  // Programmed
  Programmed: { event: 'Normal', meaning: 'Every ready pod reports that it serves the artifact.' },
  NeedsEvidence: {
    event: 'Warning',
    meaning:
      'The newest revision has an operation that a canary measured as bad, unchanged, and too few requests have shown otherwise since. It goes no further; the other pods serve what was served before.',
    action:
      'Correct the operation that the message names, or send requests to it; `kubectl gw retry` or `promote` rolls it out all the same.',
  },
  RollingOut: {
    event: 'Normal',
    meaning: 'Pods with the artifact are being started; ready ones with the previous artifact still serve.',
  },
  PodsNotStarting: {
    event: 'WarningOnceStalled',
    meaning:
      'New pods do not start as they are declared (image, options, resources, Secrets), or cannot be created. The pods before serve on.',
    action:
      'See the message: the image, the scheduling, the quota, or the field that changed last. A new revision does not help, and is not blamed.',
  },
  NoReadyPods: {
    event: 'Normal',
    meaning: 'No pod is ready.',
    action: "See the message and `kubectl describe pod` of the gateway's pods.",
  },
  ServedBySidecars: {
    event: 'Normal',
    meaning: 'spec.pods.replicas is 0, and pods of applications have sidecars: status.sidecars says what they serve.',
  },
  ScaledToZero: {
    event: 'Normal',
    meaning: 'spec.pods.replicas is 0, as the project asks: there are no pods, and nothing is served.',
  },
  PodsUnreachable: {
    event: 'Warning',
    meaning: 'A ready pod does not answer on its admin port, so the operator does not know which artifact it serves.',
    action: 'Let the operator reach port 8081 of the pods: see NetworkPolicies and service meshes.',
  },
  RolloutFailed: {
    event: 'Warning',
    meaning: 'The pods with the artifact did not become ready in time; those with the previous one still serve.',
    action: 'See the message, then correct the project or roll back with a Deployment.',
  },
  RolledBack: {
    event: 'Warning',
    meaning: 'The newest revision failed to roll out, and the last good one is served again; status.failed says why.',
    action:
      'Correct what the message names. The revision is tried again when another compiles, spec or a Secret of the pods changes, or a Deployment asks for it.',
  },
  CanaryStep: {
    event: 'Normal',
    meaning: 'A canary has advanced to its next step; status.rollout has the share of pods.',
  },
  CanaryAborted: {
    event: 'Warning',
    meaning:
      'A canary performed worse than the pods of the previous revision, or did not start. It has been removed; the other pods keep serving.',
    action: 'See status.failed, then as for RolledBack.',
  },
  AwaitingDeployment: {
    event: 'WarningOnceStalled',
    meaning: 'Nothing is deployed: autoDeploy is off and no Deployment asks for an artifact.',
    action: 'Create a Deployment, or set spec.autoDeploy.',
  },
  Conflict: {
    event: 'Warning',
    meaning: 'An object that the gateway needs already exists and has another owner. It is left unchanged.',
    action: 'Delete or rename that object, or rename the GatewayProject.',
  },
  ApplyFailed: {
    event: 'Warning',
    meaning: 'The API server rejects an object that the gateway needs. The operator retries.',
    action:
      'See the message: a quota, an admission policy, a port that is in use, or a field of spec.pods or spec.service.',
  },
  FieldConflict: {
    event: 'Warning',
    meaning:
      'Another manager sets fields that the operator owns. The operator takes them back; if the manager keeps setting them, the operator leaves them to it for longer and longer before it takes them back again.',
    action:
      'Stop that manager from setting them, or set the values that it wants in the GatewayProject; the message names the manager and the fields.',
  },
  // Ready
  Ready: { event: 'Normal', meaning: 'The pods serve the specification of the object.' },
  LastGoodServing: {
    event: 'Warning',
    meaning: 'The newest state does not compile or is not accepted; the last good artifact is served.',
    action: 'See Accepted and Compiled.',
  },
  NotReady: {
    event: 'Warning',
    meaning: 'One of the conditions above is not met yet.',
    action: 'See the other conditions.',
  },
  Pinned: { event: 'Warning', meaning: 'A Deployment pins another artifact than the newest.' },
  // Synced
  Synced: { event: 'Normal', meaning: 'The control plane has the newest artifact and its sources.' },
  Syncing: { event: 'Normal', meaning: 'The state of the cluster is being sent to the control plane.' },
  Drifted: {
    event: 'Warning',
    meaning:
      'Specs, plugins or upstreams differ at the control plane. Traffic does not depend on it; the next change of the GatewayProject reverts it.',
    action: 'See status.controlPlane.drift; make the change in the cluster, or revert it at the control plane.',
  },
  ControlPlaneAway: {
    event: 'Warning',
    meaning:
      'The control plane does not answer. Pods keep serving, and the operator retries after a minute at the latest.',
    action: 'See the message: the URL, a NetworkPolicy, its certificate (ca.crt of the Secret), or the server itself.',
  },
  AddressNotAllowed: {
    event: 'Warning',
    meaning:
      "The operator may not connect to the address of the control plane: it is internal, and the operator's allow-list does not name it. Pods keep serving.",
    action:
      "Name the host in --egress-allow of the operator (egress.allow of the chart); its own chart's control plane is there already.",
  },
  ControlPlaneRefused: {
    event: 'Warning',
    meaning: 'The control plane rejects the token or the data. Pods keep serving.',
    action: 'See the message; the token needs the role admin: for all projects, or for one that exists.',
  },
  DataPlaneKeyMissing: {
    event: 'Warning',
    meaning: 'Pods have no key for the control plane: they serve, and are replaced for each artifact.',
    action: 'Put a data-plane key of the project into the Secret, as its key data-plane-key.',
  },
  DeployedElsewhere: {
    event: 'Normal',
    meaning:
      'Somebody deployed another artifact at the control plane, and that is served. The next revision, or Deployment, replaces it.',
    action: 'See status.controlPlane.deployedBy; to return to the newest, create a Deployment with artifact.latest.',
  },
  // Deployment
  Superseded: { event: 'Normal', meaning: 'A newer Deployment of the same project has taken its place.' },
  Succeeded: { event: 'Normal', meaning: 'Every ready pod serves the artifact.' },
} as const satisfies { readonly [reason: string]: Reason };

export type ReasonName = keyof typeof REASONS;

export function isReason(name: string): name is ReasonName {
  return Object.hasOwn(REASONS, name);
}

/** Returns the Event type of the reason when it first appears. */
export function eventTypeOf(reason: string): 'Normal' | 'Warning' {
  return isReason(reason) && REASONS[reason].event !== 'Warning' ? 'Normal' : 'Warning';
}

/** Reports whether another Event warns of the reason once an object stalls for it. */
export function warnsOnceStalled(reason: string): boolean {
  return isReason(reason) && REASONS[reason].event === 'WarningOnceStalled';
}
