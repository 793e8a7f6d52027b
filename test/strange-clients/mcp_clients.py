"""Clients of MCP that are not the protocol's own: fastmcp, and pydantic-ai with what it leads its agents to.

Reads {"url", "tools"} as JSON from its standard input, where `tools` is how many there are, and writes {CLIENT: [CASE]} with
the cases that pass. Whatever goes wrong ends it.
"""

import asyncio
import json
import logging
import sys

from fastmcp import Client
from fastmcp.exceptions import ToolError
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.test import TestModel

ASKED = json.load(sys.stdin)
URL, TOOLS = ASKED["url"], ASKED["tools"]
logging.disable(logging.WARNING)


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r} is not {wanted!r}")


async def fails(ask, words, error=Exception):
    try:
        await ask
    except error as problem:
        equal([words, words in str(problem)], [words, True])
        return
    raise AssertionError("no error")


async def fastmcp(mode):
    passed = []
    async with Client(URL, mode=mode) as client:
        equal(client.server_info.name, "Shop")
        passed.append("initialize")
        names = [each.name for each in await client.list_tools()]
        equal([len(names), len(set(names))], [TOOLS, TOOLS])
        passed.append("lists by pages")
        equal((await client.call_tool("book")).data.title, "Cosmos")
        equal((await client.call_tool("many_7")).content[0].type, "text")
        passed.append("calls")
        await fails(client.call_tool("gone"), "HTTP 404", ToolError)
        await fails(client.call_tool("nothing"), "Unknown tool: nothing")
        passed.append("errors")
        await fails(client.call_tool("mine"), "with the scheme Bearer")
        passed.append("refusals")
    return passed


async def pydantic_ai():
    passed = []
    toolset = MCPToolset(URL)
    async with toolset:
        names = [each.name for each in await toolset.list_tools()]
        equal(len(names), TOOLS)
        passed.append("lists by pages")
        equal(await toolset.direct_call_tool("book", {}), {"title": "Cosmos"})
        passed.append("calls")
        answer = await Agent(TestModel(call_tools=["book"]), toolsets=[toolset]).run("Which book?")
        equal("Cosmos" in answer.output, True)
        passed.append("agents")
        await fails(toolset.direct_call_tool("gone", {}), "HTTP 404")
        await fails(toolset.direct_call_tool("mine", {}), "with the scheme Bearer")
        passed.append("errors")
    return passed


async def main():
    told = {f"fastmcp, {mode}": await fastmcp(mode) for mode in ("legacy", "auto")}
    told["pydantic-ai"] = await pydantic_ai()
    print(json.dumps(told))


asyncio.run(main())
