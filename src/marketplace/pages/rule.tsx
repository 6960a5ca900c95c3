import { exampleText, explanations, nameErrors, originOf, rules } from 'market-mcp-contract/report';
import { MarketError } from '../core/errors.ts';
import { FieldList, Head, LinkButton, shown, Tag, Text } from '../web/parts.tsx';
import type { Site } from '../web/site.tsx';

export function ruleRoutes(site: Site): void {
  site.page('/check/rules/:id', 'Rule', (c) => ruleOf(c.req.param('id') ?? ''), Rule);
}

/** @throws MarketError `NO_SUCH_RULE` */
function ruleOf(name: string) {
  const id = name.replace(/\.json$/, '');
  const rule = rules.find((one) => one.id === id);
  const explanation = explanations[id];
  if (rule && explanation) {
    const { level, title, source, fact, fix } = rule;
    return { id, level, title, source, ...(fact && { fact }), fix, ...explanation };
  }
  const [error] = nameErrors('rule', id);
  const hint = error?.hint ?? 'market-mcp explain lists all rules.';
  throw new MarketError('NO_SUCH_RULE', `there is no rule ${JSON.stringify(id)}`, hint);
}

/** What `market-mcp explain <rule>` prints, as a page. */
function Rule({
  data: { id, level, title, fact, why, failing, passing, fix, source },
}: {
  data: ReturnType<typeof ruleOf>;
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
