/** A document in an editor, which comes when it is first needed. */
import { useEffect, useRef } from 'preact/hooks';
import type { Editor, Finding, Language } from './code.ts';

interface DocumentProps {
  readonly text: string;
  readonly filename: string;
  readonly findings: readonly Finding[];
  /** A line to go to, and how often that was asked for. */
  readonly at?: { readonly line: number; readonly turn: number } | null;
  readonly onChange?: (text: string) => void;
  readonly short?: boolean;
}

/** `text` is the first content: later values count only if the file changes. */
export function DocumentEditor({ text, filename, findings, at = null, onChange, short = false }: DocumentProps) {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const latest = useRef({ text, findings, at, onChange });
  latest.current = { text, findings, at, onChange };
  const editable = onChange !== undefined;
  // A text that is being written here comes back as `text`: no reason to begin anew.
  const begin = editable ? filename : `${filename}\n${text}`;
  useEffect(() => {
    let closed = false;
    import('./code.ts').then(({ openEditor }) => {
      const { current } = latest;
      if (closed || !parent.current) return;
      editor.current = openEditor(parent.current, {
        text: current.text,
        language: languageOf(filename, current.text),
        label: filename,
        findings: current.findings,
        onChange: editable ? (changed) => latest.current.onChange?.(changed) : undefined,
      });
      if (current.at) editor.current.goTo(current.at.line);
    });
    return () => {
      closed = true;
      editor.current?.close();
      editor.current = null;
    };
  }, [begin, editable, filename]);
  useEffect(() => editor.current?.show(findings), [findings]);
  useEffect(() => {
    if (at) editor.current?.goTo(at.line);
  }, [at]);
  return <div class={short ? 'editor short' : 'editor'} ref={parent} />;
}

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly filename: string;
}

const WIDE = matchMedia('(min-width: 900px)');

export function Diff({ before, after, filename }: DiffProps) {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let close = () => {};
    let closed = false;
    import('./code.ts').then(({ openDiff }) => {
      if (closed || !parent.current) return;
      const language = languageOf(filename, after);
      close = openDiff(parent.current, { before, after, language, sideBySide: WIDE.matches });
    });
    return () => {
      closed = true;
      close();
    };
  }, [before, after, filename]);
  return <div class="editor diff" ref={parent} />;
}

function languageOf(filename: string, text: string): Language {
  return filename.endsWith('.json') || /^\s*[{[]/.test(text) ? 'json' : 'yaml';
}
