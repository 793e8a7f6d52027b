/** The title of the window, which browsers keep in their history. */
import { useEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · gw console`;
  }, [title]);
}
