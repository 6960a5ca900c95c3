import { type BrokenServer, methodOf, withAnswer } from '../variant.ts';

const json = { 'content-type': 'application/json' };

/** Sends one answer as other bytes or with another type than its JSON. */
function listAs(send: (json: string) => object): BrokenServer['breaks'] {
  return withAnswer((answer, request) =>
    methodOf(request) === 'prompts/list' && answer.status === 200
      ? { ...answer, ...send(JSON.stringify(answer.body)) }
      : answer,
  );
}

/** Lets the result of a call with unknown arguments say this in addition. */
function failureSays(text: string): BrokenServer['breaks'] {
  return {
    result: (good) => (outcome, tool) =>
      good(outcome.kind === 'fail' ? { ...outcome, message: `${outcome.message} ${text}` } : outcome, tool),
  };
}

export const brokenAnswers: readonly BrokenServer[] = [
  {
    rule: 'answers.utf8',
    along: ['discovery.invalid-token', 'discovery.prompts-list'],
    breaks: listAs((text) => ({ body: Buffer.from(`{"x":"Größe",${text.slice(1)}`, 'latin1') })),
  },
  {
    rule: 'answers.utf8',
    along: ['discovery.invalid-token', 'discovery.prompts-list'],
    breaks: listAs((text) => ({ body: `\ufeff${text}` })),
  },
  {
    rule: 'answers.numbers',
    breaks: listAs((text) => ({ body: text.replace('"result":{', '"result":{"count":1e400,') })),
  },
  {
    rule: 'answers.surrogates',
    breaks: listAs((text) => ({ body: text.replace('"result":{', '"result":{"note":"\\ud83d",') })),
  },
  {
    rule: 'answers.type',
    breaks: listAs((text) => ({ headers: { ...json, 'content-type': 'text/html' }, body: text })),
  },
  { rule: 'answers.no-secrets', breaks: failureSays('GET https://api.example.com/?api_key=8f1d2c3b4a59') },
  { rule: 'answers.no-secrets', breaks: failureSays(`sk-proj-${'x'.repeat(24)}`) },
];
