const variables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

/**
 * Returns a sentence for the hint of a request without an answer, after a space; empty if no proxy is set. Node 20 sends `fetch` directly,
 * and a check must see the server itself.
 */
export function proxyNote(): string {
  const name = variables.find((variable) => process.env[variable]);
  if (name === undefined) return '';
  return ` The program connects directly: it does not use the proxy in ${name}.`;
}
