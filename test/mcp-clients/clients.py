"""The client `mcp` of PyPI in both eras of the protocol, with the cases of cases.ts.

Reads {"url", "issuer", "id", "secret", "cover"} as JSON from its standard input, and writes {CLIENT: {CASE: word of the
table}}. Anything that goes wrong ends it.
"""

import json
import sys
import warnings

import anyio
import httpx2
import mcp
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

ASKED = json.load(sys.stdin)
URL = ASKED["url"]
PASSES = "passes"
UPSTREAMS = ("early", "late")
ERAS = {"`mcp` (PyPI), sessions": "legacy", "`mcp` (PyPI), 2026-07-28": "2026-07-28"}
# Logging is deprecated by revision 2026-07-28, and works all the same.
warnings.simplefilter("ignore", mcp.MCPDeprecationWarning)


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r} is not {wanted!r}")


def text_of(result):
    return result.content[0].text


async def refused(ask, code, words=""):
    try:
        await ask
    except mcp.MCPError as error:
        equal(error.code, code)
        equal(words in str(error), True)
        return
    raise AssertionError("no error")


async def eventually(holds):
    """As long as a test may take."""
    while not await holds():
        await anyio.sleep(0.05)


async def lists_by_pages(client, _):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            break
    equal(len([name for name in names if name.startswith("many_")]), 120)
    equal(len(set(names)), len(names))
    equal({"book", "early_test_tool_with_progress", "late_test_tool_with_progress"} <= set(names), True)
    return PASSES


async def calls(client, _):
    equal(text_of(await client.call_tool("book")), '{"title":"Cosmos"}')
    return PASSES


async def structured(client, era):
    equal((await client.call_tool("book")).structured_content, {"title": "Cosmos"})
    listed = (await client.call_tool("books")).structured_content
    equal(listed, None if era == "legacy" else [{"title": "Cosmos"}])
    return "objects" if listed is None else "any JSON"


async def binary(client, _):
    (image,) = (await client.call_tool("cover")).content
    equal([image.type, image.mime_type, image.data], ["image", "image/png", ASKED["cover"]])
    return PASSES


async def progress(client, _):
    for upstream in UPSTREAMS:
        seen = []

        async def told(done, total, message):
            seen.append(done)

        await client.call_tool(f"{upstream}_test_tool_with_progress", progress_callback=told)
        equal(seen, [0, 50, 100])
    return PASSES


async def cancellation(client, _):
    async def slow():
        return (await client.call_tool("slow_calls")).structured_content

    before = await slow()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "slow")

        async def begun():
            return (await slow())["begun"] == before["begun"] + 1

        await eventually(begun)
        tasks.cancel_scope.cancel()

    async def ended():
        return (await slow())["ended"] == before["ended"] + 1

    await eventually(ended)
    return PASSES


async def resources(client, _):
    listed = (await client.list_resources()).resources
    equal("test://static-text" in [str(each.uri) for each in listed], True)
    templates = (await client.list_resource_templates()).resource_templates
    equal([each.uri_template for each in templates], ["test://template/{id}/data"])
    (content,) = (await client.read_resource("test://template/7/data")).contents
    equal("Data for ID: 7" in content.text, True)
    return PASSES


async def prompts(client, _):
    listed = [each.name for each in (await client.list_prompts()).prompts]
    for upstream in UPSTREAMS:
        name = f"{upstream}_test_prompt_with_arguments"
        equal(name in listed, True)
        (message,) = (await client.get_prompt(name, {"arg1": "a", "arg2": "b"})).messages
        equal("arg1='a', arg2='b'" in message.content.text, True)
    return PASSES


async def completion(client, _):
    for upstream in UPSTREAMS:
        ref = mcp.types.PromptReference(type="ref/prompt", name=f"{upstream}_test_prompt_with_arguments")
        completed = await client.complete(ref, {"name": "arg1", "value": "p"})
        equal(completed.completion.values, ["paris"])
    return PASSES


async def logging(_, era):
    logged = []

    async def log(params):
        logged.append(params.data)

    async with mcp.Client(URL, mode=era, logging_callback=log, log_level="info") as client:
        if era == "legacy":
            await client.set_logging_level("info")
        for upstream in UPSTREAMS:
            logged.clear()
            await client.call_tool(f"{upstream}_test_tool_with_logging")
            equal(logged, ["Tool execution started", "Tool processing data", "Tool execution completed"])
    return PASSES


class Tokens:
    """Keeps tokens for as long as the client is."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def authorization(client, era):
    # Without a provider of tokens, the client does not say which status it got.
    await refused(client.call_tool("mine"), -32010, "with the scheme Bearer")
    provider = ClientCredentialsOAuthProvider(URL, Tokens(), ASKED["id"], ASKED["secret"], issuer=ASKED["issuer"])
    async with httpx2.AsyncClient(auth=provider) as http:
        async with mcp.Client(streamable_http_client(URL, http_client=http), mode=era, cache=None) as authorized:
            equal(text_of(await authorized.call_tool("mine")), '{"yours":true}')
    return PASSES


async def errors(client, _):
    await refused(client.call_tool("nothing"), -32602)
    await refused(client.get_prompt("nothing"), -32602)
    result = await client.call_tool("gone")
    equal([result.is_error, "HTTP 404 Not Found" in text_of(result)], [True, True])
    return PASSES


CASES = {
    "lists by pages": lists_by_pages,
    "calls": calls,
    "structured content": structured,
    "binary content": binary,
    "progress": progress,
    "cancellation": cancellation,
    "resources": resources,
    "prompts": prompts,
    "completion": completion,
    "logging": logging,
    "authorization": authorization,
    "errors": errors,
}


async def main():
    told = {}
    for name, era in ERAS.items():
        for case, run in CASES.items():
            async with mcp.Client(URL, mode=era) as client:
                try:
                    told.setdefault(name, {})[case] = await run(client, era)
                except Exception as error:
                    raise AssertionError(f"{name}, {case}") from error
    json.dump(told, sys.stdout)


anyio.run(main)
