/** `host_token_exchange_open` and `host_token_exchange`: a token of the caller's for one that an upstream takes. */

import {
  type CallState,
  type CounterInfo,
  capability,
  HostCallError,
  onlyIn,
  overloadedIfCrowded,
} from '../../../kit.ts';
import { ExchangeFailed, type ExchangeFailure } from './exchange-failed.ts';
import { readExchangeRules } from './exchange-rules.ts';
import { TokenExchanger } from './token-exchanger.ts';

const ISSUED = 0;
const RESULTS: Readonly<Record<ExchangeFailure, number>> = {
  refused: 1,
  denied: 2,
  unavailable: 3,
  timeout: 4,
  unusable: 5,
};

/** Cost of a digest, in instructions. */
const DIGEST = 3_000;
/** The exchanger's own time-outs are shorter. */
const DEADLINE_MS = 300_000;
const MOST_EXCHANGERS = 16;

const ABOUT_THE_CALLER: ReadonlySet<ExchangeFailure> = new Set(['refused', 'denied']);

const EXCHANGES: CounterInfo = {
  help: 'Requests whose bearer token was to be exchanged for one of the upstream',
  labels: {
    result:
      '`kept`: a stored token; `issued`: the authorization server issued one; `refused`: the server does not accept the token; `denied`: the server issues no token for this target or scope; `unavailable`, `timeout`, `unusable`: the server is away or slow, or sends an invalid answer',
  },
};

/** Result of the call's last exchange. */
class LastExchange implements CallState {
  token: string | null = null;
  failed: ExchangeFailed | null = null;

  end(): void {
    this.token = null;
    this.failed = null;
  }
}

export const tokenExchange = capability({
  metrics: { gw_token_exchanges_total: EXCHANGES },
  open: ({ http, log, counter }) => ({ http, log, results: counter('gw_token_exchanges_total', EXCHANGES) }),
  /** Exchangers that `init` has opened. */
  bind: (): TokenExchanger[] => [],
  call: () => new LastExchange(),
  functions: {
    host_token_exchange_open: {
      signature: 'ii:i',
      parameters: '(rules, len) -> exchange',
      meaning:
        'in `init`: where and how tokens are exchanged ([rules](#rules-of-token-exchanges)); unusable rules reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        (rules, length) => {
          onlyIn(call, 'init', 'host_token_exchange_open');
          const exchangers = bound();
          if (exchangers.length >= MOST_EXCHANGERS) {
            throw new HostCallError('host_token_exchange_open: too many exchanges');
          }
          const read = readExchangeRules(call.memory.text(rules, length), call.binding.config.whole);
          return exchangers.push(new TokenExchanger(read, loaded.http, loaded.log)) - 1;
        },
    },
    host_token_exchange: {
      signature: 'iii:i',
      parameters: '(exchange, token, len) -> result',
      meaning:
        '0: a token (`token_exchange_get`); 1: the server does not accept the token, 2: it issues no token for this target or scope (`token_exchange_refusal_get`); 3: the authorization server is unavailable (`token_exchange_retry_after`), 4: it did not answer in time, 5: its answer is invalid; the log says why',
      waits: true,
      declared: true,
      make:
        (call, { loaded, bound, state }) =>
        (handle, token, length) => {
          const exchange = call.request();
          const exchanger = bound()[handle];
          if (exchanger === undefined) throw new HostCallError(`host_token_exchange: there is no exchange ${handle}`);
          call.burn(DIGEST);
          call.charge(length);
          state.end();
          const { services, name } = call.binding;
          const issued = (result: 'kept' | 'issued') => (upstreamToken: string) => {
            loaded.results.count(result);
            state.token = upstreamToken;
            return ISSUED;
          };
          const failed = (failure: ExchangeFailed) => {
            loaded.results.count(failure.failure);
            // Failures of the server are logged once, elsewhere.
            if (ABOUT_THE_CALLER.has(failure.failure)) services.log('info', name, failure.message, exchange);
            state.failed = failure;
            return RESULTS[failure.failure];
          };
          try {
            const exchanged = exchanger.exchange(call.memory.text(token, length), exchange);
            if (typeof exchanged === 'string') return issued('kept')(exchanged);
            return call.wait(exchanged.catch(expected), DEADLINE_MS, (each) =>
              typeof each === 'string' ? issued('issued')(each) : failed(each),
            );
          } catch (error) {
            return failed(expected(error));
          }
        },
    },
    token_exchange_get: {
      signature: 'ii:i',
      parameters: '(buf, cap) -> len',
      meaning: 'the token that the last `host_token_exchange` brought, for the upstream alone',
      make:
        (call, { state }) =>
        (buf, cap) => {
          if (state.token !== null) call.charge(state.token.length);
          return call.memory.writeText(state.token ?? undefined, buf, cap);
        },
    },
    token_exchange_refusal_get: {
      signature: 'ii:i',
      parameters: '(buf, cap) -> len',
      meaning:
        'reason for the refusal, for the client: after result 1 a text from the gateway, after 2 `invalid_target`, `invalid_scope` or `access_denied`',
      make:
        (call, { state }) =>
        (buf, cap) =>
          call.memory.writeText(state.failed?.reason, buf, cap),
    },
    token_exchange_retry_after: {
      signature: ':i',
      parameters: '() -> seconds',
      meaning: 'after result 3: when the client may try again',
      make:
        (_, { state }) =>
        () =>
          state.failed?.retryAfter ?? 1,
    },
  },
});

/** Throws errors other than the known failures of an exchange. */
function expected(error: unknown): ExchangeFailed {
  if (error instanceof ExchangeFailed) return error;
  throw overloadedIfCrowded(error);
}
