/** A third-party stdio server from its npm package. */
export interface RealServer {
  readonly package: string;
  /** The program of the package, if it has several. */
  readonly bin?: string;
  readonly args?: (place: string) => readonly string[];
  /** Dummy credentials in the form that the server checks before it lists its tools. */
  readonly env?: { readonly [name: string]: string };
}

const dummy = 'dummy';

export const servers: readonly RealServer[] = [
  { package: '@modelcontextprotocol/server-everything' },
  { package: '@modelcontextprotocol/server-filesystem', args: (place) => [place] },
  { package: '@modelcontextprotocol/server-memory' },
  { package: '@modelcontextprotocol/server-sequential-thinking' },
  { package: '@modelcontextprotocol/server-github', env: { GITHUB_PERSONAL_ACCESS_TOKEN: dummy } },
  {
    package: '@modelcontextprotocol/server-slack',
    env: { SLACK_BOT_TOKEN: 'xoxb-dummy', SLACK_TEAM_ID: 'T0' },
  },
  { package: '@playwright/mcp', args: () => ['--headless'] },
  { package: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: 'ntn_dummy' } },
  { package: 'airtable-mcp-server', env: { AIRTABLE_API_KEY: 'pat.dummy' } },
  { package: '@brave/brave-search-mcp-server', env: { BRAVE_API_KEY: dummy } },
  { package: 'tavily-mcp', env: { TAVILY_API_KEY: 'tvly-dummy' } },
  { package: 'firecrawl-mcp', env: { FIRECRAWL_API_KEY: 'fc-dummy' } },
  {
    package: 'mongodb-mcp-server',
    env: { MDB_MCP_CONNECTION_STRING: 'mongodb://127.0.0.1:9/none', MDB_MCP_TELEMETRY: 'disabled' },
  },
  {
    package: '@sentry/mcp-server',
    args: () => ['--access-token=dummy', '--host=localhost'],
    env: { SENTRY_ACCESS_TOKEN: dummy, OPENAI_API_KEY: dummy },
  },
  { package: 'figma-developer-mcp', args: () => ['--stdio'], env: { FIGMA_API_KEY: dummy } },
  { package: '@upstash/context7-mcp' },
  { package: 'exa-mcp-server', env: { EXA_API_KEY: dummy } },
  {
    package: '@supabase/mcp-server-supabase',
    args: () => ['--access-token=sbp_0000000000000000000000000000000000000000', '--read-only'],
  },
  { package: 'chrome-devtools-mcp', args: () => ['--headless', '--isolated'] },
  { package: '@stripe/mcp', args: () => ['--tools=all', '--api-key=rk_test_dummy'] },
];
