import { expect, it } from 'vitest';
import { evaluateReport } from '../../../packages/contract/src/check/verdict.ts';
import { markdownReport } from '../../../packages/contract/src/report/markdown.ts';
import { prettyReport } from '../../../packages/contract/src/report/pretty.ts';
import { checkServer } from '../../broken/check.ts';
import { lenient } from '../../check/report.ts';

it('a fault that fifty tools share is shown once', async () => {
  const report = await checkServer({
    list: (good) => () => {
      const [tool] = good();
      return Array.from({ length: 50 }, (_, at) => ({
        ...tool,
        name: `get_price_${at}`,
        outputSchema: { type: 'array' },
      }));
    },
    call: (good) => (params) => good({ ...params, name: 'get_price' }),
  });
  const options = { color: false, verbose: true, explainCommand: (rule: string) => rule };
  const checked = evaluateReport(report, lenient);
  const short = prettyReport(checked, { ...options, verbose: false });
  expect(short.split('\n').length).toBeLessThanOrEqual(40);
  expect(short.match(/^✗ output\.object-root .*$/gm)).toEqual([
    '✗ output.object-root  get_price_0, get_price_1, get_price_2 and 47 more…: Set outputSchema.type to "object"; express null and errors inside properties.',
  ]);
  const text = prettyReport(checked, options);
  expect(text.match(/^✗ output\.object-root /gm)).toHaveLength(1);
  expect(text).toContain('get_price_0, get_price_1, get_price_2 and 47 more tools · outputSchema.type');
  // Of the calls of the rehearsal, twenty are shown.
  expect(text.match(/get_price_[2-4]\d/g) ?? []).toEqual([]);
  expect(text.split('\n').length).toBeLessThan(250 + report.summary.passed);
  const recap = text.slice(text.indexOf('What failed, and where'));
  expect(recap).toMatch(
    /^ {2}get_price_0, get_price_1, get_price_2 and 47 more places {2}output\.object-root/m,
  );
  const row =
    markdownReport(checked).match(/^\| output\\\.object-root .*$|^\| output\.object-root .*$/m)?.[0] ?? '';
  expect(row).toContain('and 47 more tools');
  expect(row).not.toContain('and 45 more');
});
