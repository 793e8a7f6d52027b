/** `host_waf_*`: requests and responses, inspected by the rules of a config (docs/reference/plugins.md#waf). */
import {
  type Answer,
  answerWith,
  type Call,
  capability,
  type Exchange,
  HostCallError,
  InitSlot,
  OPENER,
  onlyIn,
  overloadedIfCrowded,
} from '../../kit.ts';
import { callSettings } from './call-settings.ts';
import { INSPECTED, InspectedRequest } from './inspected-request.ts';
import { Inspections } from './inspections.ts';
import { type RuleSet, RuleSets } from './rule-sets.ts';
import { readWafSettings, type WafSettings } from './settings.ts';
import { openCounters, WAF_METRICS } from './waf-metrics.ts';

/** Milliseconds for loading rules: a minute of a busy machine. */
const LOAD_DEADLINE_MS = 60_000;
/** Milliseconds for an inspection with its wait in the queue, which is shorter. */
const DEADLINE_MS = 60_000;

/** The rules of a config, and its settings by operation. */
interface Firewall {
  readonly settings: WafSettings;
  readonly rules: RuleSet;
  /** In the engine's form, by method and path. */
  readonly byOperation: Map<string, Uint8Array>;
}

export const waf = capability({
  metrics: WAF_METRICS,
  open: (process) => ({ sets: new RuleSets(), inspections: new Inspections(), counters: openCounters(process) }),
  load: (opened, { data }) => ({ ...opened, data, paths: [] as string[] }),
  close: ({ sets, paths }) => {
    for (const path of paths) sets.close(path);
  },
  bind: () => new InitSlot<Firewall>('host_waf_open'),
  functions: {
    host_waf_open: {
      ...OPENER,
      meaning:
        'in `init`: loads the rules that the whole config names, with the properties of `waf`; unusable ones reject the config',
      waits: true,
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_waf_open');
          const settings = readWafSettings(call.binding.config.whole);
          const bytes = loaded.data.get(settings.ruleSet);
          if (bytes === undefined) throw new HostCallError(`the artifact has no ${settings.ruleSet}`);
          loaded.paths.push(settings.ruleSet);
          call.passesResponse = !settings.responseBody.inspect;
          return call.wait(loaded.sets.open(settings.ruleSet, bytes), LOAD_DEADLINE_MS, (rules) =>
            bound().open(call, () => ({ settings, rules, byOperation: new Map() })),
          );
        },
    },
    host_waf_request: {
      signature: ':i',
      parameters: '() -> answered',
      meaning:
        'in `on_request`: inspects the request; its body is inspected when it is read, before it is validated. 1: the request is refused, and the answer says so',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'on_request', 'host_waf_request');
          const firewall = bound().get('host_waf_request');
          if (!isSampled(firewall.settings)) return 0;
          const exchange = call.request();
          const { name, services } = call.binding;
          const inspected = new InspectedRequest(exchange, {
            ...firewall,
            frameSettings: frameSettingsOf(firewall, exchange),
            inspections: loaded.inspections,
            counters: loaded.counters,
            plugin: name,
            log: (message) => services.log('error', name, message, exchange),
          });
          INSPECTED.set(exchange, inspected);
          return answered(call, inspected.inspectHead());
        },
    },
    host_waf_response: {
      signature: ':i',
      parameters: '() -> answered',
      meaning:
        'in `on_response`: inspects the response, if the config says so. 1: another answer stands in its place, which says that it is refused',
      waits: true,
      declared: true,
      body: 'response_body',
      make: (call) => () => {
        const inspected = INSPECTED.of(call.answeredRequest());
        return inspected === null ? 0 : answered(call, inspected.inspectResponse());
      },
    },
  },
});

function isSampled({ sampling }: WafSettings): boolean {
  return sampling === 100 || Math.random() * 100 < sampling;
}

function frameSettingsOf({ settings, rules, byOperation }: Firewall, { operation, method }: Exchange): Uint8Array {
  // An operation of GET answers HEAD, too.
  const names = {
    operationId: operation?.operationId,
    method: method === 'HEAD' ? 'GET' : method,
    path: operation?.path ?? '',
  };
  const key = `${names.method} ${names.path}`;
  const known = byOperation.get(key) ?? callSettings(settings, names, rules.index, operation?.inputs ?? null);
  byOperation.set(key, known);
  return known;
}

/** Returns 1 if the request or response is refused. */
async function answered(call: Call, result: Promise<Answer | null>): Promise<number> {
  const crowded = result.catch((error: unknown) => {
    throw overloadedIfCrowded(error);
  });
  return call.wait(crowded, DEADLINE_MS, (answer) => {
    if (answer === null) return 0;
    answerWith(call, answer);
    return 1;
  });
}
