import { contrast, type Explanations } from './model.ts';

/** The runtime of a project. */
export const runtimeExplanations: Explanations = {
  'runtime.outdated': contrast(
    'A server gets a fix of the runtime only when its project is upgraded. Some fixes close security holes.',
    '$ market-mcp doctor\nruntime: 0.2.0, this program: 0.3.0',
    '$ market-mcp upgrade\n$ market-mcp doctor\nruntime: 0.3.0, this program: 0.3.0',
  ),
  'runtime.platform': contrast(
    'The server verifies tokens by src/platform.ts; the check signs them by the profile in market-mcp.json. If they differ, a green check says nothing about the real platform.',
    "// src/platform.ts, edited by hand\nissuer: 'https://staging.example',",
    '$ market-mcp upgrade\n// src/platform.ts is written again, from market-mcp.json',
  ),
};
