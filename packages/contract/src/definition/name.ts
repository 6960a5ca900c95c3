/** The names that all widespread MCP clients accept (public source: platform facts). */
export const toolNamePattern = '^[a-zA-Z0-9_-]{1,64}$';
