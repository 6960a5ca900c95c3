import type { Report } from '../../packages/contract/src/model.ts';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { createSigner } from '../../packages/contract/src/wire/signer.ts';
import type { Served } from './reference.ts';
import type { Trust } from './token.ts';
import { examples } from './tools.ts';

const audience = 'https://lakes.example.com/mcp';
const signer = await createSigner(context.token, audience);

/** The trust of every server under test. */
export const trust: Trust = { publicKey: signer.publicKey, issuer: signer.issuer, audience };

/** Checks a server as `market-mcp check <url> --platform context --signing-key … --examples …` does, and stops it. */
export async function judge(serving: Promise<Served>): Promise<Report> {
  const { url, stop } = await serving;
  try {
    return await runContract({
      url,
      profile: context,
      signer,
      examples: new Map(Object.entries(examples)),
      calls: { named: [] },
      timeoutMs: 10_000,
    });
  } finally {
    await stop();
  }
}

/** The ids of the rules that failed, in alphabetical order. */
export function failuresOf({ rules }: Report): readonly string[] {
  return rules.flatMap(({ status, id }) => (status === 'fail' ? [id] : [])).toSorted();
}
