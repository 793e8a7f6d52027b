/** The inspector of tools (docs/mcp.md#inspector): begins in the page that gateway/src/admin/inspector.ts serves. */
import { render } from 'preact';
import { Inspector } from './inspector.tsx';

const root = document.getElementById('inspector');
if (root) render(<Inspector />, root);
