/** The title of the window, which browsers keep in their history. */
import { useLayoutEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  // Before the page is seen.
  useLayoutEffect(() => {
    document.title = `${title} · gw console`;
  }, [title]);
}
