import { clip } from 'market-mcp-contract/command';
import { guiltyLimit, isDisputable } from '../core/dispute-report.ts';
import type { Marketplace } from '../core/marketplace.ts';
import { inputText } from '../web/form-input.ts';
import { CodeCell, Head, Problems, Submit, Table, Tag, Time, visibleText } from '../web/parts.tsx';
import type { Done, Site } from '../web/site.tsx';

export function disputeRoutes(site: Site): void {
  const { marketplace } = site;
  site.page('/disputes', 'Disputes', () => disputesOf(marketplace), Disputes);
  site.post('/disputes', async (input): Promise<Done> => {
    const tool = inputText(input, 'names') === 'none' ? null : inputText(input, 'tool') || undefined;
    const dispute = await marketplace.dispute(Number(inputText(input, 'call')), tool);
    return { data: dispute, to: `/disputes#dispute-${dispute.id}` };
  });
}

async function disputesOf({ store, traffic }: Marketplace) {
  const state = await store.read();
  const calls = traffic
    .newest(50, (exchange) => isDisputable(exchange, state))
    .map(({ id, rpc, at }) => ({ id, tool: rpc?.tool ?? '', arguments: rpc?.arguments ?? '', at }));
  const { disputes, listings } = state;
  return { disputes, listings, calls };
}

const marks = { guilty: 'fail', innocent: 'pass', manual_review: 'advice' } as const;

type DisputesData = Awaited<ReturnType<typeof disputesOf>>;

function Disputes({ data }: { data: DisputesData }) {
  const { disputes, calls } = data;
  return (
    <>
      <Head title="Disputes">
        A buyer disputes a call as schema_mismatch. It is judged against the schema stored at the last listing
        or refresh, not against what your server declares now. {guiltyLimit} guilty verdicts take the listing
        off.
      </Head>
      <form method="post" action="/disputes" class="panel stack">
        <h2>File one</h2>
        {calls.length === 0 ? (
          <p class="soft">
            The traffic has no call that can be disputed: a call of a listed tool, with a token and a
            response. <a href="/try">Try a tool</a> that is listed.
          </p>
        ) : (
          <>
            <label>
              <span>Call</span>
              <select name="call">
                {calls.map((call) => (
                  <option value={String(call.id)}>{describeCall(call)}</option>
                ))}
              </select>
            </label>
            <label>
              <span>Tool that the dispute names</span>
              <select name="names">
                <option value="tool">The tool that was called</option>
                <option value="none">None: the first tool of the listing is taken</option>
              </select>
            </label>
            <Submit label="File schema_mismatch" />
          </>
        )}
      </form>
      {disputes.length > 0 && (
        <Table label="Disputes" heads={['Filed', 'Verdict', 'Tool', 'Arguments', 'Call', 'Why']}>
          {disputes.toReversed().map(({ id, filedAt, verdict, tool, arguments: args, call, problems }) => (
            <tr id={`dispute-${id}`}>
              <td class="nowrap">
                <Time at={filedAt} />
              </td>
              <td>
                <Tag mark={marks[verdict]}>{verdict.replace('_', ' ')}</Tag>
              </td>
              <CodeCell>{visibleText(tool)}</CodeCell>
              <CodeCell>{visibleText(args)}</CodeCell>
              <td>
                <a href={`/traffic/${call}`}>#{call}</a>
              </td>
              <td>
                <Problems problems={problems} />
                {verdict === 'innocent' && 'The output matches the stored outputSchema.'}
                {verdict === 'manual_review' && 'No outputSchema of this tool is stored: a person must look.'}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

/** A call in one line: `#12 get_price {"symbol":"BTC"}, 09:30:00`. */
function describeCall({ id, tool, arguments: args, at }: DisputesData['calls'][number]): string {
  return `#${id} ${visibleText(tool)} ${clip(visibleText(args), shownArguments)}, ${at.slice(11, 19)}`;
}

/** Characters of the arguments in the list of calls. */
const shownArguments = 80;
