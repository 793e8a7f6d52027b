/** All of the page: tools on one side, the one that is chosen on the other. */
import { useEffect, useState } from 'preact/hooks';
import { tokensOf } from '../src/tools/tokens.ts';
import { listTools, type Tool } from './endpoint.ts';
import { ToolPage } from './tool-page.tsx';

export function Inspector() {
  const [tools, setTools] = useState<readonly Tool[] | null>(null);
  const [problem, setProblem] = useState('');
  const [chosen, setChosen] = useState(chosenInAddress);
  const load = () => {
    setProblem('');
    listTools().then(setTools, (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  useEffect(() => {
    load();
    const followAddress = () => setChosen(chosenInAddress());
    addEventListener('hashchange', followAddress);
    return () => removeEventListener('hashchange', followAddress);
  }, []);
  const tool = tools?.find(({ name }) => name === chosen) ?? tools?.[0];
  return (
    <>
      <header class="top">
        <h1>Tools</h1>
        <span class="muted">{tools && `${tools.length} tools, about ${sum(tools)} tokens`}</span>
        <button type="button" class="button end" onClick={load}>
          List again
        </button>
      </header>
      <main class="frame">
        {problem !== '' && (
          <p class="problem" role="alert">
            Tools cannot be listed: {problem}
          </p>
        )}
        {tools && tools.length === 0 && <p>No tools are offered.</p>}
        {tools && tools.length > 0 && <ToolList tools={tools} chosen={tool?.name ?? ''} />}
        {tool && <ToolPage key={tool.name} tool={tool} />}
      </main>
    </>
  );
}

interface ToolListProps {
  readonly tools: readonly Tool[];
  readonly chosen: string;
}

function ToolList({ tools, chosen }: ToolListProps) {
  const [words, setWords] = useState('');
  const wanted = words.toLowerCase();
  const found = tools.filter((tool) => `${tool.name} ${textOf(tool['title'])}`.toLowerCase().includes(wanted));
  return (
    <nav aria-label="Tools">
      <div class="field">
        <label for="filter">Filter</label>
        <input
          id="filter"
          type="search"
          autocomplete="off"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </div>
      <ul>
        {found.map((tool) => (
          <li key={tool.name}>
            <a href={`#${encodeURIComponent(tool.name)}`} aria-current={tool.name === chosen ? 'page' : undefined}>
              <span class="strong">{tool.name}</span>
              <span class="muted">{tokensOf(tool)} tokens</span>
            </a>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="muted">No tool has this in its name or title.</p>}
    </nav>
  );
}

function chosenInAddress(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

function sum(tools: readonly Tool[]): number {
  return tools.reduce((all, each) => all + tokensOf(each), 0);
}

/** Of anything that a server may say where a text belongs. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
