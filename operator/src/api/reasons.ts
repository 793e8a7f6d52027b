/** The one table of condition reasons (and Event reasons): what each means and what to do. docs/crds.md is made from it. */
export interface Reason {
  readonly meaning: string;
  /** What the user does next; absent where there is nothing to do. */
  readonly action?: string;
}

export const REASONS = {
  // Accepted
  Accepted: { meaning: 'The object is understood and what it refers to is there.' },
  InvalidSpec: {
    meaning: 'The object contradicts itself; the message says where.',
    action: 'Correct the field that the message names.',
  },
  SourceNotFound: {
    meaning: 'The ConfigMap or Secret, or its key, that holds the document, plugin or signing key is not there.',
    action: 'Create it in the same namespace, or correct the name; it is picked up when it appears.',
  },
  SourceInvalid: {
    meaning:
      'The ConfigMap or Secret is there, but what it holds cannot be read: not UTF-8, not gzip, too large, a wrong version or hash.',
    action: 'Replace its content.',
  },
  PluginInvalid: {
    meaning:
      'The plugin package cannot be loaded: its manifest or module is wrong, or it imports what it does not declare.',
    action: 'Correct the package; the message names the key and the line or import.',
  },
  SpecNotFound: {
    meaning: 'An ApiSpec that is named does not exist.',
    action: 'Create it, or take its name out of spec.specs.names.',
  },
  NoSpecs: {
    meaning: 'No ApiSpec is named or selected.',
    action: 'Label an ApiSpec as spec.specs.selector asks, or name one.',
  },
  SpecNotAccepted: {
    meaning: 'An ApiSpec has no document to compile.',
    action: 'See the Accepted condition of the ApiSpec.',
  },
  PluginNotFound: {
    meaning: 'A plugin is neither built in nor given by a PluginRef.',
    action: 'Create the PluginRef, or correct the name in spec.plugins.',
  },
  PluginNotAccepted: {
    meaning: 'A PluginRef gives no plugin that can be compiled.',
    action: 'See the Accepted condition of the PluginRef.',
  },
  ProjectNotFound: { meaning: 'The GatewayProject does not exist.', action: 'Create it, or correct spec.project.' },
  NoSuchRevision: {
    meaning: 'No kept revision has that number or hash.',
    action: "Choose one of the GatewayProject's status.revisions; spec.revisionHistoryLimit says how many are kept.",
  },
  // Compiled
  Compiled: { meaning: 'The specs and plugins compile to the artifact of status.revisions[0].' },
  CompileFailed: {
    meaning: 'The specs and plugins do not compile. What was served before goes on being served.',
    action: 'Correct the first of status.diagnostics; each carries a code, a file, a JSON pointer and a hint.',
  },
  NotCompiled: {
    meaning: 'There is nothing to compile yet, or no GatewayProject takes the ApiSpec.',
    action: 'See Accepted.',
  },
  // Stored
  Stored: { meaning: 'The artifact lies in immutable ConfigMaps.' },
  ArtifactTooLarge: {
    meaning: 'The artifact needs more than eight ConfigMaps of 900 KiB.',
    action: 'Split the project, or leave out plugins and files that no operation uses.',
  },
  NotStored: { meaning: 'There is no artifact yet.', action: 'See Compiled.' },
  // Programmed
  Programmed: { meaning: 'Every ready pod reports that it serves the artifact.' },
  RollingOut: {
    meaning: 'Pods with the artifact are being started; ready ones with the previous artifact still serve.',
  },
  NoReadyPods: {
    meaning: 'No pod is ready.',
    action: "See the message and `kubectl describe pod` of the gateway's pods.",
  },
  NoReplicas: { meaning: 'spec.pods.replicas is 0.', action: 'Raise it.' },
  PodsUnreachable: {
    meaning: 'A ready pod does not answer on its admin port, so that it is not known what it serves.',
    action: 'Let the operator reach port 8081 of the pods: see NetworkPolicies and service meshes.',
  },
  RolloutFailed: {
    meaning: 'The pods with the artifact did not become ready in time; those with the previous one still serve.',
    action: 'See the message, then correct the project or roll back with a Deployment.',
  },
  AwaitingDeployment: {
    meaning: 'Nothing is deployed: autoDeploy is off and no Deployment asks for an artifact.',
    action: 'Create a Deployment, or set spec.autoDeploy.',
  },
  Conflict: {
    meaning: 'An object that the gateway needs exists already and belongs to somebody else. It is left alone.',
    action: 'Delete or rename that object, or rename the GatewayProject.',
  },
  ApplyFailed: {
    meaning: 'The API server refuses an object that the gateway needs. It is tried again.',
    action:
      'See the message: a quota, an admission policy, a port that is taken, or a field of spec.pods or spec.service.',
  },
  // Ready
  Ready: { meaning: 'What the object says is what is served.' },
  LastGoodServing: {
    meaning: 'The newest state does not compile or is not accepted; the last good artifact is served.',
    action: 'See Accepted and Compiled.',
  },
  NotReady: { meaning: 'Something above does not hold yet.', action: 'See the other conditions.' },
  Pinned: { meaning: 'A Deployment pins another artifact than the newest.' },
  // Deployment
  Superseded: { meaning: 'A newer Deployment of the same project has taken its place.' },
  Succeeded: { meaning: 'Every ready pod serves the artifact.' },
} as const satisfies { readonly [reason: string]: Reason };

export type ReasonName = keyof typeof REASONS;
