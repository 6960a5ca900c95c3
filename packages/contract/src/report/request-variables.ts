import type { CheckReport } from '../check/check-report.ts';
import { posixLine } from '../command/shell.ts';
import { projectUrl } from '../wire/repeat.ts';
import { platformVersion } from '../wire/requests.ts';

/**
 * The lines for a POSIX shell that set the variables of the printed requests: `$SESSION` to a new session, `$TOKEN` to a token. None if no
 * request has them.
 */
export function variableLines({
  rules,
  target,
  runtime,
}: Pick<CheckReport, 'rules' | 'target' | 'runtime'>): readonly string[] {
  const requests = rules
    .flatMap(({ problems }) => problems)
    .flatMap(({ request = '', repeat = [] }) => [request, ...repeat])
    .join('\n');
  const isProject = runtime !== undefined;
  const lines: string[] = [];
  if (requests.includes('$SESSION')) lines.push(sessionLine(isProject ? projectUrl : target));
  if (requests.includes('$TOKEN')) lines.push(isProject ? projectTokenLine : foreignTokenLine);
  if (lines.length === 0) return [];
  return ['To send a printed request again, set its variables first:', ...lines];
}

/** A token is printed as a member of a JSON object. */
const projectTokenLine = String.raw`TOKEN=$(npx market-mcp token --json | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p')`;
const foreignTokenLine = "TOKEN='<a token that the server accepts>'";

function sessionLine(url: string): string {
  const params = {
    protocolVersion: platformVersion,
    capabilities: {},
    clientInfo: { name: 'curl', version: '1' },
  };
  const request = posixLine([
    ...['curl', '-sS', '-i', url, '-H', 'content-type: application/json'],
    ...['-H', 'accept: application/json, text/event-stream', '-d'],
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  ]);
  return `SESSION=$(${request} | tr -d '\\r' | sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii][Dd]: *//p')`;
}
