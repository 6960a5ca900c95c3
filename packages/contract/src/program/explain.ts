import { rules } from '../catalogue.ts';
import { ruleNameErrors } from '../check/select.ts';
import { type ExitCode, requireNone } from '../command/command-error.ts';
import type { Output } from '../command/terminal-output.ts';
import type { RuleText } from '../model.ts';
import { type Example, exampleText, ruleOrigin } from '../rules/explanation.ts';
import { explanations } from '../rules/explanations.ts';
import { isNamedBy, ruleCases } from '../rules/rule.ts';

/**
 * `explain [rule]`: prints what a rule means, why it matters, and an example that fails and one that passes. A group
 * explains all its rules; without a name, all rules are listed.
 *
 * @throws CommandError if no rule or group has the name.
 */
export async function explain(name: string | undefined, output: Output): Promise<ExitCode> {
  if (name === undefined) {
    const width = Math.max(...rules.map(({ id }) => id.length));
    for (const { id, title } of rules) output.line(`${output.style('bold', id.padEnd(width))}  ${title}`);
    return output.result({ rules: rules.map(asData) });
  }
  requireNone(ruleNameErrors('[rule]', name));
  const namedRules = rules.filter((rule) => ruleCases(rule).some((part) => isNamedBy(part, name)));
  output.line(namedRules.map((rule) => asText(rule, output)).join('\n\n\n'));
  return output.result({ rules: namedRules.map(asData) });
}

function asText(rule: RuleText, output: Output): string {
  const { id, level, title, source, fix, fact, cases = [] } = rule;
  const explanation = explanations[id];
  const weight = level === 'must' ? output.style('red', 'MUST') : output.style('yellow', 'SHOULD');
  const lines = [
    `${output.style('bold', id)}  ${weight}${fact ? ' (the platform profile decides its level)' : ''}`,
    title,
  ];
  if (explanation) {
    lines.push('', explanation.why);
    lines.push('', output.style('red', '✗ fails'), ...exampleLines(explanation.failing));
    lines.push('', output.style('green', '✓ passes'), ...exampleLines(explanation.passing));
  }
  if (cases.length > 0) {
    const width = Math.max(...cases.map((part) => part.id.length));
    const caseLines = cases.map((part) => `  ${part.id.padEnd(width)}  ${part.title}`);
    lines.push('', 'cases, which --only, --skip and a baseline can name', ...caseLines);
  }
  return [...lines, '', `fix     ${fix}`, `source  ${ruleOrigin(source)}`].join('\n');
}

function exampleLines(example: Example): readonly string[] {
  return exampleText(example)
    .split('\n')
    .map((line) => `  ${line}`);
}

function asData({ id, level, title, source, fix, cases }: RuleText) {
  const ids = cases?.map((part) => part.id);
  return { id, level, title, source, fix, ...explanations[id], cases: ids };
}
