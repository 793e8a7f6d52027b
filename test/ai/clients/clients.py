"""The clients `openai` and `anthropic` of PyPI, with the cases of official-client.ts.

Reads {"clients": {CLIENT: {SURFACE: {NAME: {"url", "apiKey", "headers", "refuses"}}}}, "case": {…}} as JSON from its standard
input, and writes {CLIENT: {SURFACE: {NAME: {CASE: null, or the code of the error}}}}.
Anything that goes wrong otherwise ends it.
"""

import json
import re
import sys

import anthropic
import openai
from websockets.exceptions import InvalidStatus

ASKED = json.load(sys.stdin)
TEXT, CITY, SCHEMA, TOOLS, CALLS = (ASKED["case"][name] for name in ("text", "city", "schema", "tools", "calls"))
PICTURE, QUESTION, ANSWER = (ASKED["case"][name] for name in ("picture", "pictureQuestion", "pictureAnswer"))
LINES = ASKED["case"]["lines"]
PICTURE_URL = f"data:image/png;base64,{PICTURE}"
SAID = {"role": "user", "content": TEXT}
GPT, CLAUDE = "gpt-5", "claude-sonnet-5"


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r} is not {wanted!r}")


def limited(module, ask):
    try:
        ask()
    except module.RateLimitError as error:
        if "planted" not in str(error):
            raise
        return
    raise AssertionError("no error")


def broken(module, ask):
    """A stream that ends before it is whole is no answer."""
    try:
        ask()
    except module.BadRequestError:
        raise
    except Exception:
        return
    raise AssertionError("no error")


def refused(module, ask):
    try:
        ask()
    except module.BadRequestError as error:
        equal([code_of(error), "model" in str(error)], ["model_required", True])
        return
    raise AssertionError("no error")


def code_of(error):
    return error.body.get("code") if isinstance(error.body, dict) else None


def conversation(module, ask, talk, tools, own):
    """The cases of a surface with conversations; `own`: those that each surface writes in its own way."""

    def errors():
        limited(module, lambda: ask(model="status-429"))
        limited(module, lambda: ask(stream=True, model="status-429"))

    return {
        "chat": talk(False),
        "stream": talk(True),
        "tools": tools(False),
        "streamed tools": tools(True),
        **own,
        "errors": errors,
        "streams that break off": lambda: broken(module, lambda: ask(stream=True, model="half")),
        "refusals": lambda: refused(module, lambda: ask(model="")),
    }


def chat(client):
    completions = client.chat.completions

    def ask(stream=False, **more):
        asked = {"model": GPT, "messages": [SAID], **more}
        if not stream:
            return completions.create(**asked)
        with completions.stream(**asked, stream_options={"include_usage": True}) as events:
            return events.get_final_completion()

    def text_of(completion):
        return completion.choices[0].message.content

    def talk(stream):
        def run():
            completion = ask(stream)
            equal(text_of(completion), TEXT)
            equal(completion.usage.completion_tokens, 8)

        return run

    def tools(stream):
        def run():
            functions = [{"name": name, "parameters": SCHEMA, "strict": True} for name in TOOLS]
            given = [{"type": "function", "function": each} for each in functions]
            messages = [SAID]
            called = ask(stream, messages=messages, tools=given)
            calls = called.choices[0].message.tool_calls
            equal([[each.function.name, json.loads(each.function.arguments)] for each in calls], CALLS)
            messages.append(called.choices[0].message.model_dump(exclude_none=True, exclude={"parsed"}))
            for call in messages[-1]["tool_calls"]:
                call["function"].pop("parsed_arguments", None)
            messages += [{"role": "tool", "tool_call_id": each.id, "content": f"of {each.id}"} for each in calls]
            answered = ask(stream, messages=messages, tools=given)
            equal(f"of {calls[1].id}" in text_of(answered), True)
            messages += [{"role": "assistant", "content": text_of(answered)}, SAID]
            equal(text_of(ask(messages=messages)), TEXT)

        return run

    def images():
        content = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": PICTURE_URL}}]
        equal(bool(re.search(ANSWER, text_of(ask(messages=[{"role": "user", "content": content}])))), True)

    def structured():
        form = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": SCHEMA}}
        equal(json.loads(text_of(ask(response_format=form))), CITY)

    def reasoning():
        completion = ask(reasoning_effort="high", max_completion_tokens=4000)
        equal(text_of(completion), TEXT)
        equal(completion.usage.completion_tokens_details.reasoning_tokens, 5)

    own = {"images": images, "structured output": structured, "reasoning": reasoning}
    return conversation(openai, ask, talk, tools, own)


def responses(client):
    def ask(stream=False, **more):
        asked = {"model": GPT, "input": TEXT, "store": False, **more}
        if not stream:
            return client.responses.create(**asked)
        with client.responses.stream(**asked) as events:
            return events.get_final_response()

    def talk(stream):
        def run():
            response = ask(stream)
            equal(response.output_text, TEXT)
            equal(response.usage.output_tokens, 8)

        return run

    def items_of(response):
        items = [each.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for each in response.output]
        for part in (part for item in items for part in item.get("content", [])):
            part.pop("parsed", None)
        return items

    def tools(stream):
        def run():
            given = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": True} for name in TOOLS]
            items = [SAID]
            called = ask(stream, input=items, tools=given)
            calls = [each for each in called.output if each.type == "function_call"]
            equal([[each.name, json.loads(each.arguments)] for each in calls], CALLS)
            items += items_of(called)
            for call in calls:
                output = f"of {call.call_id}"
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
            answered = ask(stream, input=items, tools=given)
            equal(f"of {calls[1].call_id}" in answered.output_text, True)
            equal(ask(input=[*items, *items_of(answered), SAID]).output_text, TEXT)

        return run

    def images():
        picture = {"type": "input_image", "image_url": PICTURE_URL, "detail": "auto"}
        content = [{"type": "input_text", "text": QUESTION}, picture]
        equal(bool(re.search(ANSWER, ask(input=[{"role": "user", "content": content}]).output_text)), True)

    def structured():
        form = {"type": "json_schema", "name": "city", "strict": True, "schema": SCHEMA}
        equal(json.loads(ask(text={"format": form}).output_text), CITY)

    def reasoning():
        response = ask(reasoning={"effort": "high", "summary": "auto"}, max_output_tokens=4000)
        equal([response.output[0].type, response.output_text], ["reasoning", TEXT])
        equal(response.usage.output_tokens_details.reasoning_tokens, 5)

    own = {"images": images, "structured output": structured, "reasoning": reasoning}
    return conversation(openai, ask, talk, tools, own)


def embeddings(client):
    def embed():
        answer = client.embeddings.create(model="text-embedding-3-small", input=["a", "bcd"])
        equal([each.embedding for each in answer.data], [[1, 0], [3, 1]])
        equal(answer.usage.prompt_tokens, 21)

    return {
        "embeddings": embed,
        "errors": lambda: limited(openai, lambda: client.embeddings.create(model="status-429", input="a")),
    }


def models(client):
    return {"models": lambda: equal("shared" in [each.id for each in client.models.list()], True)}


def realtime(client):
    def talk(model="gpt-realtime"):
        with client.realtime.connect(model=model) as session:
            session.session.update(session={"type": "realtime", "output_modalities": ["text"]})
            session.conversation.item.create(item={"type": "message", "role": "user", "content": [{"type": "input_text", "text": TEXT}]})
            session.response.create()
            text = ""
            for event in session:
                if event.type == "response.output_text.delta":
                    text += event.delta
                if event.type == "response.done":
                    equal([text, event.response.usage.total_tokens], [TEXT, 253])
                    return

    def errors():
        try:
            talk("status-429")
        except InvalidStatus as error:
            if error.response.status_code != 429:
                raise
        else:
            raise AssertionError("a session has opened that must not")

    return {"session": talk, "errors": errors}


def files_and_batches(client):
    def uploaded():
        return client.files.create(file=("lines.jsonl", LINES.encode()), purpose="batch")

    def created():
        asked = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
        return client.batches.create(input_file_id=uploaded().id, **asked)

    def files():
        file = uploaded()
        equal(client.files.retrieve(file.id).filename, "lines.jsonl")
        equal(client.files.content(file.id).text, LINES)
        equal(client.files.delete(file.id).deleted, True)
        try:
            client.files.retrieve(file.id)
        except openai.NotFoundError:
            return
        raise AssertionError("no error")

    def batches():
        batch = created()
        while batch.status != "completed":
            batch = client.batches.retrieve(batch.id)
        equal(batch.usage.output_tokens, 80)
        equal("of 2" in client.files.content(batch.output_file_id).text, True)

    def cancelled():
        batch = created()
        equal([client.batches.cancel(batch.id).status, client.batches.retrieve(batch.id).status], ["cancelling", "cancelled"])

    def lists():
        for file in client.files.list():
            equal(file.object, "file")

    return {"files": files, "batches": batches, "a batch that is cancelled": cancelled, "lists": lists}


def messages(client):
    def ask(stream=False, **more):
        asked = {"model": CLAUDE, "max_tokens": 100, "messages": [SAID], **more}
        if not stream:
            return client.messages.create(**asked)
        with client.messages.stream(**asked) as events:
            return events.get_final_message()

    def text_of(message):
        return "".join(block.text for block in message.content if block.type == "text")

    def talk(stream):
        def run():
            message = ask(stream, system="Be brief.")
            equal(text_of(message), TEXT)
            equal([message.usage.output_tokens, message.usage.cache_read_input_tokens], [8, 16])

        return run

    def tools(stream, **more):
        def run():
            given = {"tools": [{"name": name, "input_schema": SCHEMA} for name in TOOLS], **more}
            called = ask(stream, **given)
            calls = [each for each in called.content if each.type == "tool_use"]
            equal([[each.name, each.input] for each in calls], CALLS)
            results = [{"type": "tool_result", "tool_use_id": each.id, "content": f"of {each.id}"} for each in calls]
            turns = [SAID, {"role": "assistant", "content": called.content}, {"role": "user", "content": results}]
            answered = ask(stream, messages=turns, **given)
            equal(f"of {calls[1].id}" in text_of(answered), True)
            turns += [{"role": "assistant", "content": answered.content}, SAID]
            equal(text_of(ask(messages=turns)), TEXT)

        return run

    def images():
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        content = [{"type": "text", "text": QUESTION}, {"type": "image", "source": source}]
        equal(bool(re.search(ANSWER, text_of(ask(messages=[{"role": "user", "content": content}])))), True)

    def structured():
        form = {"format": {"type": "json_schema", "schema": SCHEMA}}
        equal(json.loads(text_of(ask(output_config=form))), CITY)

    own = {"images": images, "structured output": structured, "reasoning": tools(True, max_tokens=4000, thinking={"type": "adaptive"}, output_config={"effort": "medium"})}
    return conversation(anthropic, ask, talk, tools, own)


def of_openai(url, key, headers):
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, default_headers=headers, max_retries=0)


def of_anthropic(url, key, headers):
    return anthropic.Anthropic(base_url=url, api_key=key, default_headers=headers, max_retries=0)


CLIENTS = {
    "openai (PyPI)": (
        of_openai,
        {
            "chat": chat,
            "responses": responses,
            "embeddings": embeddings,
            "models": models,
            "realtime": realtime,
            "files and batches": files_and_batches,
        },
    ),
    "anthropic (PyPI)": (of_anthropic, {"messages": messages, "models": models}),
}


def outcome(run):
    """None where the case passes; the code of the error that the gateway has answered with."""
    try:
        return run()
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        if code_of(error) is None:
            raise
        return code_of(error)
    except InvalidStatus as error:
        return json.loads(error.response.body)["code"]


def main():
    results = {}
    for client, (connect, surfaces) in CLIENTS.items():
        for surface, cases_of in surfaces.items():
            for name, at in ASKED["clients"][client][surface].items():
                cases = cases_of(connect(at["url"], at["apiKey"], at["headers"]))
                asked = {case: run for case, run in cases.items() if case != "refusals" or at["refuses"]}
                cell = {case: outcome(run) for case, run in asked.items()}
                results.setdefault(client, {}).setdefault(surface, {})[name] = cell
    json.dump(results, sys.stdout)


main()
