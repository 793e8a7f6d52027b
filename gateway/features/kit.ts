/** The core as features see it: everything that they import of it. */
export { canonicalJson } from '../src/artifact/canonical-json.ts';
export type { FormField, Json, JsonObject, Parameter } from '../src/artifact/format.ts';
export { BoundedMap } from '../src/bounded-map.ts';
export {
  type ArtifactServices,
  type Capability,
  type CapabilityFunction,
  capability,
  type Own,
  type ProcessServices,
} from '../src/capability/capability.ts';
export type { DataCompiler, DataFinding, NamedFiles } from '../src/capability/config-checks.ts';
export { IN_FLIGHT_LIMITS, InFlight, type Share } from '../src/capability/in-flight.ts';
export { InitSlot, OPENER, onlyIn } from '../src/capability/in-hook.ts';
export { Outage, type OutageLog } from '../src/capability/outage.ts';
export { RequestSlot } from '../src/capability/request-slot.ts';
export type { ClientCertificate } from '../src/client-certificate.ts';
export { clientNetwork } from '../src/client-network.ts';
export type { CloseStatus } from '../src/close-status.ts';
export { connectVetted, EgressRefused, startTlsClient } from '../src/egress/connector.ts';
export { decodingCaller } from '../src/egress/decoding-caller.ts';
export { addForwarded, HOP_BY_HOP } from '../src/egress/forwarded-headers.ts';
export { EgressGuard } from '../src/egress/guard.ts';
export { CircuitBreaker } from '../src/egress/health/breaker.ts';
export { isHostAndPort } from '../src/egress/host-and-port.ts';
export { HttpCallError, type HttpCallFailure } from '../src/egress/http-call-error.ts';
export {
  type HttpAnswer,
  type HttpCall,
  type HttpCaller,
  HttpClient,
  type HttpStream,
} from '../src/egress/http-client.ts';
export type { ReadPem } from '../src/egress/upstream.ts';
export {
  type Answer,
  type BodyCopy,
  type BodyStream,
  CLIENT_CLOSED,
  changeHeader,
  type DescribedInputs,
  type DescribedMessages,
  type EndedRequest,
  type Engine,
  type EngineResponse,
  type Exchange,
  type HeaderList,
  headerOf,
  Interrupted,
  joinedHeader,
  problemOf,
  type RequestPart,
  type ResponseSink,
  type StagedHeader,
} from '../src/exchange.ts';
export {
  type HandOff,
  NotSendable,
  type Upstream,
  type UpstreamRequest,
  type WebSocketLimits,
} from '../src/hand-off.ts';
export { holdsCredential } from '../src/headers/credential-names.ts';
export { isFieldValue } from '../src/headers/field-syntax.ts';
export { HOPS } from '../src/headers/hops.ts';
export { parseHttpDate } from '../src/headers/http-date.ts';
export { isJson, isUtf8, mediaTypeOf } from '../src/headers/media-type.ts';
export { retryAfterMs } from '../src/headers/retry-after.ts';
export { RepeatedMember } from '../src/json/escaped-names.ts';
export { isWrittenNumber, type JsonNumber, numberText, plainNumber } from '../src/json/exact-json.ts';
export { isQuickJson, type JsonScan, SHORT_JSON, scanJson } from '../src/json/json-scan.ts';
export { jsonText } from '../src/json/json-text.ts';
export { repeatsName } from '../src/json/member-names.ts';
export { isNestedWithin, MOST_NESTING, nestsTooDeeply } from '../src/json/nesting.ts';
export { parseAsWritten } from '../src/json/parse-as-written.ts';
export { parseOnce, parseScanned, parseTextOnce } from '../src/json/parse-once.ts';
export { parsedSize } from '../src/json/parsed-size.ts';
export { BufferBudget, type Evictable, type Holding } from '../src/memory/buffer-budget.ts';
export { ChurningMap } from '../src/memory/churning-map.ts';
export { holdFor } from '../src/memory/request-holding.ts';
export { alphabetOf } from '../src/patterns/alphabet.ts';
export { patternKind } from '../src/patterns/known-patterns.ts';
export { compilePattern, type Pattern } from '../src/patterns/pattern.ts';
export { DEFAULT_STEPS, StepBudget, StepsExceeded, type TimeLimit } from '../src/patterns/step-budget.ts';
export { type Problem, type ProblemName, problem } from '../src/problems.ts';
export { inTurns, type Steps, Turns } from '../src/scheduling/cooperative-scheduling.ts';
export { KeyedMutex } from '../src/scheduling/keyed-mutex.ts';
export { readInTurns, SLICE, slicesInTurns } from '../src/scheduling/read-in-turns.ts';
export { Checks } from '../src/shares/checks.ts';
export { Crowded, FairQueue } from '../src/shares/fair-queue.ts';
export { networkOf, ownerOf } from '../src/shares/owner.ts';
export { NOBODY, type OwnerPath } from '../src/shares/owner-path.ts';
export { ShareTree } from '../src/shares/share-tree.ts';
export { SharedMap } from '../src/shares/shared-map.ts';
export { get, isList, isObject, type Obj } from '../src/spec/json.ts';
export { valueAt } from '../src/spec/pointer.ts';
export type { BudgetReservation, BudgetResult, BudgetStore } from '../src/state/budget-store.ts';
export type { CacheStore } from '../src/state/cache-store.ts';
export type { NonceVerdict } from '../src/state/nonce-store.ts';
export type { RateLimitResult, RateLimitStore } from '../src/state/rate-limit-store.ts';
export type { Reservation, ReservationStore } from '../src/state/reservation-store.ts';
export { StateUnavailable } from '../src/state/state.ts';
export { ByteCollector } from '../src/streams/byte-collector.ts';
export { readWhole } from '../src/streams/read-whole.ts';
export { EventParser, type ServerSentEvent } from '../src/streams/server-sent-events.ts';
export { writeWithBackpressure } from '../src/streams/write-with-backpressure.ts';
export { text, timestamp } from '../src/telemetry/access-log.ts';
export type { LabelledCounter } from '../src/telemetry/labelled-counter.ts';
export {
  type CounterInfo,
  DURATION_BUCKETS,
  type HistogramInfo,
  LABELS,
  type LabelledValue,
  type SampledInfo,
} from '../src/telemetry/metric-table.ts';
export { traceparentOf } from '../src/telemetry/trace-context.ts';
export { firstLineOf, messageOf } from '../src/text/message-of.ts';
export { PluginLoadError } from '../src/wasm/binary/plugin-load-error.ts';
export type { Binding, Call } from '../src/wasm/call/call.ts';
export type { CallState } from '../src/wasm/call/capability.ts';
export type { CredentialEntry } from '../src/wasm/call/credential-marks.ts';
export { isCpuExceeded, overloadedIfCrowded } from '../src/wasm/call/failures.ts';
export { HostCallError } from '../src/wasm/call/host-call-error.ts';
export type { LogLevel } from '../src/wasm/call/plugin.ts';
export {
  AUTH_PREFIX,
  isToken,
  MAX_HEADERS,
  MAX_VALUE,
  transportHeaders,
} from '../src/wasm/host/header-rules.ts';
export { withBody } from '../src/wasm/host/request-body.ts';
export { readHeader } from '../src/wasm/host/request-headers.ts';
export { answerWith, finalStatus, MAX_HEADER_BYTES } from '../src/wasm/host/response.ts';
export { type FrameCall, type HostInstance, HostModule } from '../src/wasm/host-module.ts';
export type { Snapshot } from '../src/wasm/snapshot.ts';
export type { DirectionFigures, WebSocketFigures } from '../src/web-socket-figures.ts';
export { closeFrame, closeReason } from '../src/websocket/close-frame.ts';
export { CLOSE, FIN, headSize, payloadLength } from '../src/websocket/frame-head.ts';
export { FrameScanner } from '../src/websocket/frame-scanner.ts';
export { PROTOCOL, refusalOf, UpstreamHandshake } from '../src/websocket/handshake.ts';
