/** Where the MCP endpoint is on the traffic port. */
export const MCP_PATH = '/__gw/mcp';
