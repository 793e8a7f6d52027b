/** Everything that the program takes from its environment, read here and nowhere else. */

export interface OperatorEnvironment {
  /** Image of gateway pods (GW_OPERATOR_IMAGE). */
  readonly image: string | undefined;
  /** Namespace of the pod (POD_NAMESPACE). */
  readonly namespace: string | undefined;
  /** Name of the pod (POD_NAME). */
  readonly podName: string | undefined;
  /** Namespaces to watch, comma-separated (GW_OPERATOR_NAMESPACES). */
  readonly namespaces: readonly string[];
  /** Label selector of the namespaces to watch (GW_OPERATOR_NAMESPACE_SELECTOR). */
  readonly namespaceSelector: string | undefined;
  /** Whether to colour terminal output (NO_COLOR, FORCE_COLOR). */
  readonly colour: boolean;
  /** Variables that local mode passes to the processes that it starts. */
  readonly inherited: Readonly<Record<string, string>>;
}

/** No other variables of our environment reach a pod: its manifest defines the rest. */
const INHERITED = ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'SYSTEMROOT'];

export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): OperatorEnvironment {
  const inherited: { [name: string]: string } = {};
  for (const name of INHERITED) {
    const value = env[name];
    if (value !== undefined) inherited[name] = value;
  }
  return {
    image: env['GW_OPERATOR_IMAGE'] || undefined,
    namespace: env['POD_NAMESPACE'] || undefined,
    podName: env['POD_NAME'] || undefined,
    namespaces: splitList(env['GW_OPERATOR_NAMESPACES'] ?? ''),
    namespaceSelector: env['GW_OPERATOR_NAMESPACE_SELECTOR'] || undefined,
    colour: env['FORCE_COLOR'] ? env['FORCE_COLOR'] !== '0' : isTerminal && !env['NO_COLOR'],
    inherited,
  };
}

export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
