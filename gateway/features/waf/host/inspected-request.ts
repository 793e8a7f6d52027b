/** A request under inspection, from its head to its end. */
import {
  type Answer,
  type EndedRequest,
  type Exchange,
  headerOf,
  isFieldValue,
  mediaTypeOf,
  type Problem,
  problem,
  type RequestPart,
  RequestSlot,
} from '../../kit.ts';
import { explained } from './explained.ts';
import type { Inspections, Unfinished } from './inspections.ts';
import { type InspectedBody, type InspectedResponse, PHASES, requestFrame, TELLS_RULES } from './request-frame.ts';
import type { RuleSet } from './rule-sets.ts';
import type { WafSettings } from './settings.ts';
import type { RuleMatch, Verdict } from './verdict.ts';
import { familyOf, isEvaluation, type WafCounters, type WafOutcome } from './waf-metrics.ts';

/** Milliseconds of CPU for all inspections of a request and its response. */
const INSPECTION_MS = 100;
/** Matches in a line of the log. */
const MOST_LOGGED = 20;

export const INSPECTED = new RequestSlot<InspectedRequest>();

export interface InspectionDeps {
  readonly settings: WafSettings;
  readonly rules: Pick<RuleSet, 'index' | 'inspect'>;
  /** Settings of the operation, in the engine's form. */
  readonly frameSettings: Uint8Array;
  readonly inspections: Inspections;
  readonly counters: WafCounters;
  /** Name of the plugin. */
  readonly plugin: string;
  log(message: string): void;
}

export class InspectedRequest implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #deps: InspectionDeps;
  readonly #exchange: Exchange;
  /** Later inspections run the earlier ones' rules again: the last verdict has all matches. */
  #verdict: Verdict | null = null;
  #unfinished: Unfinished | null = null;
  #denied = false;
  #spentMs = 0;
  /** The inspected part of the body. */
  #body: InspectedBody | null = null;

  constructor(exchange: Exchange, deps: InspectionDeps) {
    this.#exchange = exchange;
    this.#deps = deps;
  }

  /**
   * Inspects what there is before the body, and has the body inspected when it is read. Returns the answer if the
   * request is refused. Rejects with Crowded and Interrupted.
   */
  async inspectHead(): Promise<Answer | null> {
    const { requestBody, blocks } = this.#deps.settings;
    const exchange = this.#exchange;
    const { bodyStream } = exchange;
    const waits = bodyStream !== null && requestBody.inspect && exchange.body === null;
    if (!waits) return this.#inspect(PHASES.requestHead | PHASES.requestBody, this.#beginOf(exchange.body));
    if (blocks && !requestBody.partial) bodyStream.limitTo(requestBody.maxBytes);
    exchange.inspectBody = (body) => this.#inspectBody(body);
    return this.#inspect(PHASES.requestHead, null);
  }

  #beginOf(body: Uint8Array | null): InspectedBody | null {
    const { inspect, maxBytes } = this.#deps.settings.requestBody;
    if (body === null || !inspect) return null;
    return { bytes: body.subarray(0, maxBytes), isWhole: body.length <= maxBytes };
  }

  async #inspectBody(body: Uint8Array): Promise<boolean> {
    const { plugin } = this.#deps;
    const exchange = this.#exchange;
    this.#body = this.#beginOf(body);
    const answer = await this.#inspect(PHASES.requestHead | PHASES.requestBody, this.#body);
    if (answer === null) return true;
    exchange.answer = answer;
    exchange.decided(plugin);
    return false;
  }

  /** Inspects the response that is about to be sent; returns the answer in its place if it is refused. */
  async inspectResponse(): Promise<Answer | null> {
    const { responseBody } = this.#deps.settings;
    const { response } = this.#exchange;
    if (!responseBody.inspect || this.#denied) return null;
    const type = mediaTypeOf(headerOf(response.headers, 'content-type'));
    const isRead = responseBody.contentTypes.includes(type);
    const whole = typeof response.body === 'string' ? Buffer.from(response.body) : (response.body ?? new Uint8Array());
    const body = isRead ? whole.subarray(0, responseBody.maxBytes) : new Uint8Array();
    const phases = PHASES.requestHead | PHASES.requestBody | PHASES.response;
    return this.#inspect(phases, this.#body, { status: response.status, headers: response.headers, body });
  }

  /** In a trace, an inspection is a span with the rules that matched. */
  async #inspect(phases: number, body: InspectedBody | null, response: InspectedResponse | null = null) {
    const { trace } = this.#exchange;
    const span = trace?.child(response === null ? 'inspect request' : 'inspect response');
    const answer = await this.#decide(phases, body, response);
    if (span === undefined) return answer;
    const told = this.#told;
    if (told !== '') span.attributes['gw.detail'] = told;
    trace?.ended(span, answer === null ? this.#outcome : 'refused');
    return answer;
  }

  async #decide(
    phases: number,
    body: InspectedBody | null,
    response: InspectedResponse | null,
  ): Promise<{ readonly problem: Problem } | null> {
    const { settings, rules, frameSettings, inspections, log } = this.#deps;
    const told = this.#exchange.trace === null ? 0 : TELLS_RULES;
    const frame = requestFrame(frameSettings, phases | told, this.#exchange, body, response);
    const left = Math.max(1, INSPECTION_MS - this.#spentMs);
    const { verdict, cpuMs } = await inspections.run(rules, frame, this.#exchange, left);
    this.#spentMs += cpuMs;
    if ('unfinished' in verdict) {
      this.#unfinished = verdict;
      if (verdict.unfinished === 'fault') log(`an inspection failed: ${verdict.reason}`);
      if (!settings.blocks) return null;
      this.#denied = true;
      return { problem: problem('inspection-limit', 'The request could not be inspected within the limits.') };
    }
    this.#verdict = verdict;
    if (verdict.outcome !== 'refused') return null;
    this.#denied = true;
    const devMembers = { rules: verdict.matches.slice(0, MOST_LOGGED).map(matchedRule) };
    const denied = problem('request-denied', 'Rules of the gateway refuse it.', { devMembers });
    const { answer, status, location } = verdict;
    if (answer !== 'redirect') return { problem: { ...denied, status } };
    // Rules may put parts of the request into it.
    if (!isFieldValue(location)) return { problem: denied };
    return { problem: { ...denied, status, headers: ['location', location] } };
  }

  /** What the last inspection did, for a trace. */
  get #told(): string {
    if (this.#unfinished !== null) return `not finished: ${this.#unfinished.reason}`;
    return this.#verdict === null ? '' : explained(this.#verdict, this.#deps.rules.index);
  }

  get #outcome(): WafOutcome {
    if (this.#unfinished !== null) return 'limit';
    if (this.#verdict === null) return 'passed';
    if (this.#verdict.outcome === 'refused') return 'denied';
    if (this.#verdict.outcome === 'would be refused') return 'would-deny';
    return this.#verdict.matches.length > 0 ? 'matched' : 'passed';
  }

  /** The member `waf` of the line in the access log: what an audit asks for, without values unless the config has them. */
  get logged(): string {
    const { audit } = this.#deps.settings;
    const outcome = this.#outcome;
    if (audit.requests === 'none' || (audit.requests === 'relevant' && outcome === 'passed')) return '';
    const { rule = 0, inbound = 0, outbound = 0, matches = [] } = this.#verdict ?? {};
    const rules = matches.slice(0, MOST_LOGGED).map(({ rule: index, id, message, values }) => {
      const { severity = null, tags = [] } = this.#deps.rules.index.at(index) ?? {};
      const told = values.map(({ variable, value }) => (audit.values ? { variable, value } : { variable }));
      return { id, msg: message, ...(severity === null ? {} : { severity }), tags, matched: told };
    });
    const limit = this.#unfinished === null ? {} : { limit: this.#unfinished.unfinished };
    const told = { outcome, ...limit, ...(rule === 0 ? {} : { rule }), inbound, outbound, rules };
    return `,"waf":${JSON.stringify(told)}`;
  }

  finished({ method, route }: EndedRequest): void {
    const { counters, rules } = this.#deps;
    counters.requests.count(method, route, this.#outcome);
    for (const { rule } of this.#verdict?.matches ?? []) {
      const { tags = [] } = rules.index.at(rule) ?? {};
      if (!isEvaluation(tags)) counters.matches.count(familyOf(tags));
    }
  }
}

/** A rule in the problem document of development mode; the values that it matched are the client's. */
function matchedRule({ id, message, values }: RuleMatch) {
  return { id, msg: message, variable: values[0]?.variable ?? '' };
}
