"""Clients of models that are no provider's own: langchain, litellm's SDK, pydantic-ai.

Reads {"endpoints": {NAME: {"url", "key"}}, "text", "tools", "calls", "schema"} as JSON from its standard input, and writes
{CLIENT: {NAME: [CASE]}} with the cases that pass. Whatever goes wrong ends it.
"""

import json
import logging
import os
import sys

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LANGSMITH_TRACING="false", LITELLM_LOG="CRITICAL", DO_NOT_TRACK="1")

import anthropic
import litellm
import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

ASKED = json.load(sys.stdin)
TEXT, TOOLS, CALLS, SCHEMA = (ASKED[name] for name in ("text", "tools", "calls", "schema"))
GPT, CLAUDE = "gpt-5", "claude-sonnet-5"
logging.disable(logging.WARNING)
litellm.suppress_debug_info = True


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r} is not {wanted!r}")


def limited(ask, *errors):
    """The provider's 429 is the client's own error of that, with the provider's words."""
    try:
        ask()
    except errors as error:
        equal("planted" in str(error), True)
        return
    raise AssertionError("no error")


def langchain(model_of, *errors):
    functions = [{"title": name, "description": name, **SCHEMA} for name in TOOLS]

    def whole():
        message = model_of().invoke(TEXT)
        equal([message.text, message.usage_metadata["output_tokens"]], [TEXT, 8])

    def streamed():
        parts = list(model_of().stream(TEXT))
        message = sum(parts[1:], parts[0])
        equal([message.text, message.usage_metadata["output_tokens"], len(parts) > 2], [TEXT, 8, True])

    def tools(ask):
        model = model_of().bind_tools(functions)
        turns = [HumanMessage(TEXT)]
        called = ask(model, turns)
        equal([[each["name"], each["args"]] for each in called.tool_calls], CALLS)
        turns += [called, *(ToolMessage(f"of {each['id']}", tool_call_id=each["id"]) for each in called.tool_calls)]
        answered = ask(model, turns)
        equal(f"of {called.tool_calls[1]['id']}" in answered.text, True)
        turns += [answered, HumanMessage(TEXT)]
        equal(model_of().invoke(turns).text, TEXT)

    def streamed_message(model, turns):
        parts = list(model.stream(turns))
        return sum(parts[1:], parts[0])

    return {
        "whole": whole,
        "streamed": streamed,
        "tools": lambda: tools(lambda model, turns: model.invoke(turns)),
        "streamed tools": lambda: tools(streamed_message),
        "errors": lambda: limited(lambda: model_of("status-429").invoke(TEXT), *errors),
        "errors of streams": lambda: limited(lambda: list(model_of("status-429").stream(TEXT)), *errors),
    }


def of_litellm(prefix, model, url, key):
    given = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS]

    def ask(stream=False, name=model, messages=None, **more):
        asked = {"model": f"{prefix}/{name}", "messages": messages or [{"role": "user", "content": TEXT}], **more}
        asked |= {"api_base": url, "api_key": key, "num_retries": 0, "max_tokens": 1000}
        # Of Anthropic's API it is the client's own header, which it sends beside one that is added.
        asked |= {"extra_headers": {"X-API-Key": key}} if prefix == "openai" else {}
        if not stream:
            return litellm.completion(**asked)
        parts = list(litellm.completion(**asked, stream=True, stream_options={"include_usage": True}))
        equal(len(parts) > 2, True)
        return litellm.stream_chunk_builder(parts, messages=asked["messages"])

    def talk(stream):
        answer = ask(stream)
        equal([answer.choices[0].message.content, answer.usage.completion_tokens], [TEXT, 8])

    def tools(stream):
        turns = [{"role": "user", "content": TEXT}]
        called = ask(stream, messages=turns, tools=given).choices[0].message
        equal([[each.function.name, json.loads(each.function.arguments)] for each in called.tool_calls], CALLS)
        turns.append(called.model_dump(exclude_none=True))
        turns += [{"role": "tool", "tool_call_id": each.id, "content": f"of {each.id}"} for each in called.tool_calls]
        answered = ask(stream, messages=turns, tools=given).choices[0].message
        equal(f"of {called.tool_calls[1].id}" in answered.content, True)

    return {
        "whole": lambda: talk(False),
        "streamed": lambda: talk(True),
        "tools": lambda: tools(False),
        "streamed tools": lambda: tools(True),
        "errors": lambda: limited(lambda: ask(name="status-429"), litellm.RateLimitError),
        "errors of streams": lambda: limited(lambda: ask(True, name="status-429"), litellm.RateLimitError),
    }


def pydantic_ai(model_of):
    def agent(called=None, name=None):
        made = Agent(model_of(name) if name else model_of(), retries=0)
        if called is not None:

            @made.tool_plain
            def weather(city: str) -> str:
                called.append(["weather", {"city": city}])
                return "of weather"

            @made.tool_plain
            def time(city: str) -> str:
                called.append(["time", {"city": city}])
                return "of time"

        return made

    def whole():
        answer = agent().run_sync(TEXT)
        equal([answer.output, answer.usage.output_tokens], [TEXT, 8])

    def streamed():
        answer = agent().run_stream_sync(TEXT)
        equal(["".join(answer.stream_text(delta=True, debounce_by=None)), answer.usage.output_tokens], [TEXT, 8])

    def tools():
        called = []
        equal("of time" in agent(called).run_sync(TEXT).output, True)
        equal(sorted(called), sorted(CALLS))

    def streamed_tools():
        called = []
        answer = agent(called).run_stream_sync(TEXT)
        equal("of time" in "".join(answer.stream_text(delta=True, debounce_by=None)), True)
        equal(sorted(called), sorted(CALLS))

    failing = "status-429"
    return {
        "whole": whole,
        "streamed": streamed,
        "tools": tools,
        "streamed tools": streamed_tools,
        "errors": lambda: limited(lambda: agent(name=failing).run_sync(TEXT), ModelHTTPError),
        "errors of streams": lambda: limited(
            lambda: list(agent(name=failing).run_stream_sync(TEXT).stream_text()), ModelHTTPError
        ),
    }


def clients(url, key):
    headers = {"X-API-Key": key}

    def langchain_openai(name=GPT):
        more = {"default_headers": headers, "max_retries": 0, "stream_usage": True, "use_responses_api": False}
        return ChatOpenAI(model=name, base_url=f"{url}/v1", api_key=key, **more)

    def langchain_anthropic(name=CLAUDE):
        return ChatAnthropic(model=name, base_url=url, api_key=key, default_headers=headers, max_retries=0, max_tokens=100)

    def pydantic_chat(name=GPT):
        client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=key, default_headers=headers, max_retries=0)
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))

    def pydantic_messages(name=CLAUDE):
        client = anthropic.AsyncAnthropic(base_url=url, api_key=key, default_headers=headers, max_retries=0)
        return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))

    return {
        "langchain-openai": langchain(langchain_openai, openai.RateLimitError),
        "langchain-anthropic": langchain(langchain_anthropic, anthropic.RateLimitError),
        "litellm chat": of_litellm("openai", GPT, f"{url}/v1", key),
        "litellm messages": of_litellm("anthropic", CLAUDE, url, key),
        "pydantic-ai chat": pydantic_ai(pydantic_chat),
        "pydantic-ai messages": pydantic_ai(pydantic_messages),
    }


told = {}
for where, endpoint in ASKED["endpoints"].items():
    for client, cases in clients(**endpoint).items():
        for name, run in cases.items():
            try:
                run()
            except Exception as error:
                raise AssertionError(f"{client}, {where}, {name}") from error
            told.setdefault(client, {}).setdefault(where, []).append(name)
print(json.dumps(told))
