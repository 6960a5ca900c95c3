import { contrast, type Explanations } from './model.ts';

/** The copy of the runtime in a project. */
export const runtimeExplanations: Explanations = {
  'runtime.outdated': contrast(
    'A server gets a fix of the runtime only when its project is upgraded. Some fixes close security holes.',
    '$ market-mcp doctor\nruntime: 0.2.0, this program: 0.3.0',
    '$ market-mcp upgrade\n$ market-mcp doctor\nruntime: 0.3.0, this program: 0.3.0',
  ),
  'runtime.edited': contrast(
    'The runtime is tested as a whole, and an upgrade replaces it. An edit is untested and gets lost.',
    '// src/server/http.ts\nresponse.setHeader("x-mine", "1"); // added by hand',
    '// src/server/http.ts is as it was written; the header is added by the proxy in front of the server',
  ),
};
