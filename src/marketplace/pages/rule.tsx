import type { Explanation } from '../../check/explain/model.ts';
import { exampleText, originOf } from '../../check/explain/text.ts';
import type { RuleText } from '../../contract/model.ts';
import { FieldList, Head, LinkButton, shown, Tag, Text } from '../web/parts.tsx';

/** A rule with its explanation. */
export type RuleData = RuleText & Explanation;

/** What `market-mcp explain <rule>` prints, as a page. */
export function Rule({
  data: { id, level, title, fact, why, failing, passing, fix, source },
}: {
  data: RuleData;
}) {
  return (
    <>
      <Head title={id}>{title}</Head>
      <p class="row">
        <Tag mark={level === 'must' ? 'fail' : 'advice'}>{level.toUpperCase()}</Tag>
        <span class="soft small">
          {level === 'must'
            ? 'Without it, the listing is rejected or the tool breaks.'
            : 'Without it, the tool works worse.'}
          {fact && ' The platform profile decides its level.'}
        </span>
      </p>
      <p>{shown(why)}</p>
      <div class="split even">
        <section class="stack tight">
          <h2 class="marked fail">Fails</h2>
          <Text text={exampleText(failing)} />
        </section>
        <section class="stack tight">
          <h2 class="marked pass">Passes</h2>
          <Text text={exampleText(passing)} />
        </section>
      </div>
      <FieldList fields={{ fix, source: originOf(source) }} />
      <p>
        <LinkButton to="/check" label="Back to the check" />
      </p>
    </>
  );
}
