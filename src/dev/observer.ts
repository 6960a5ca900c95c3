import { observerSource } from './assets.ts';

/** A chunk of output of a server in development. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** The header `x-market-mcp-exchange` of the request that caused the output; null outside of a request. */
  readonly exchange: number | null;
}

/** Arguments for Node that make a server report its output over IPC. The project itself contains nothing of it. */
export const observerArguments: readonly string[] = [
  '--import',
  `data:text/javascript;base64,${Buffer.from(observerSource).toString('base64')}`,
];
