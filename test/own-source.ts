/** Vitest's options by which tests load the contract's own source, as tsconfig.json has it, and not what was built from it. */
export const ownSource = {
  resolve: { conditions: ['market-mcp-source'] },
  ssr: { resolve: { conditions: ['market-mcp-source'] } },
};
