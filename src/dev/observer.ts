import { observerSource } from './assets.ts';

/** Something that a server in development wrote. */
export interface Written {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** The value of the header `x-market-mcp-exchange` of the request during which it was written; null outside. */
  readonly exchange: number | null;
}

/** Arguments of Node that make a server tell what it writes, over IPC. Nothing of it is in the project. */
export const observerArguments: readonly string[] = [
  '--import',
  `data:text/javascript;base64,${Buffer.from(observerSource).toString('base64')}`,
];
