/** Outcome of a call: its result, earlier messages, and each stage of its request. */
import { messageLine } from '../src/mcp/client/server-messages.ts';
import { get, type Obj } from '../src/spec/json.ts';
import type { TraceReport } from '../src/trace/report.ts';
import type { Answer } from './endpoint.ts';

/** Characters of a text that are shown: a page with more does not scroll any more. */
const MOST_SHOWN = 200_000;
/** Images that browsers show without running anything. */
const IMAGE = /^image\/(png|jpeg|gif|webp)$/;

export function Outcome({ answer }: { readonly answer: Answer }) {
  const { result, refusal, messages, report } = answer;
  const lines = messages.map((each) => messageLine(each, 'debug')).filter((each) => each !== null);
  const content = get(result, 'content');
  const structured = get(result, 'structuredContent');
  return (
    <section aria-label="Outcome">
      <h3>Outcome</h3>
      <p role="status" class={result && get(result, 'isError') !== true ? 'good' : 'problem'}>
        {summary(answer)}
      </p>
      {result === null && <Text text={refusal} />}
      {lines.length > 0 && (
        <>
          <h3>Said before</h3>
          <Text text={lines.join('\n')} />
        </>
      )}
      {Array.isArray(content) && content.map((each: unknown, i) => <Content key={i} content={each} />)}
      {structured !== undefined && (
        <>
          <h3>Structured content</h3>
          <Text text={JSON.stringify(structured, null, 2)} />
        </>
      )}
      <Stages report={report} />
    </section>
  );
}

function summary({ result, report }: Answer): string {
  const ms = `${report.duration_ms.toFixed(1)} ms`;
  if (result === null) return `refused after ${ms}`;
  const type = get(result, 'resultType') ?? 'complete';
  if (type !== 'complete') return `the tool needs input from its client (${String(type)}), after ${ms}`;
  const status = get(get(result, '_meta'), 'dev.gw/status');
  const said = get(result, 'isError') === true ? 'failed' : 'succeeded';
  return `${said} after ${ms}${status === undefined ? '' : `, HTTP ${String(status)}`}`;
}

function Content({ content }: { readonly content: unknown }) {
  const [type, text, data, mime] = ['type', 'text', 'data', 'mimeType'].map((name) => get(content, name));
  if (type === 'text' && typeof text === 'string') return <Text text={text} />;
  if (type === 'image' && typeof data === 'string' && typeof mime === 'string' && IMAGE.test(mime)) {
    return <img src={`data:${mime};base64,${data}`} alt="What the tool answered" />;
  }
  return <Text text={JSON.stringify(content as Obj, null, 2)} />;
}

function Text({ text }: { readonly text: string }) {
  const cut = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… ${text.length} characters` : text;
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
  return <pre tabIndex={0}>{cut}</pre>;
}

function Stages({ report }: { readonly report: TraceReport }) {
  return (
    <>
      <h3>Trace</h3>
      <p class="muted small">
        Request {report.request_id}, trace {report.trace_id}
      </p>
      <table>
        <caption class="visually-hidden">Stages of the request</caption>
        <thead>
          <tr>
            {['Stage', 'Outcome', 'Time', 'Detail'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {report.stages.map(({ stage, outcome, detail, duration_ms, depth }, i) => (
            <tr key={i}>
              <td class={`depth-${Math.min(depth, 3)}`}>{stage}</td>
              <td>{outcome}</td>
              <td class="number">{duration_ms === undefined ? '' : `${duration_ms.toFixed(2)} ms`}</td>
              <td>{detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
