import { guiltyLimit } from '../core/dispute.ts';
import type { Dispute, Listing } from '../core/model.ts';
import { CodeCell, Head, Problems, Submit, shown, Table, Tag, Time } from '../web/parts.tsx';

export interface DisputesData {
  readonly disputes: readonly Dispute[];
  readonly listings: readonly Listing[];
  /** Calls in the traffic that can be disputed, newest first. */
  readonly calls: readonly { readonly id: number; readonly tool: string; readonly at: string }[];
}

const marks = { guilty: 'fail', innocent: 'pass', manual_review: 'advice' } as const;

export function Disputes({ data }: { data: DisputesData }) {
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
            There is no call of a listed tool in the traffic. <a href="/try">Try a tool</a> that is listed.
          </p>
        ) : (
          <>
            <label>
              <span>Call</span>
              <select name="call">
                {calls.map(({ id, tool, at }) => (
                  <option value={String(id)}>{`#${id} ${shown(tool)}, ${at.slice(11, 19)}`}</option>
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
        <Table label="Disputes" heads={['Filed', 'Verdict', 'Tool', 'Call', 'Why']}>
          {disputes.toReversed().map(({ id, filedAt, verdict, tool, call, problems }) => (
            <tr id={`dispute-${id}`}>
              <td class="nowrap">
                <Time at={filedAt} />
              </td>
              <td>
                <Tag mark={marks[verdict]}>{verdict.replace('_', ' ')}</Tag>
              </td>
              <CodeCell>{shown(tool)}</CodeCell>
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
