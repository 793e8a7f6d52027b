/** Paths of the MCP endpoint on the traffic port. */
export const MCP_PATH = '/__gw/mcp';
