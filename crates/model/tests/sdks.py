"""What the vendors' own libraries say.

  sdks.py see FORMAT URL    asks a server one question and prints how the library understood the answer
  sdks.py partial           reads beginnings of JSON documents, each as a JSON string on a line, and
                            prints what the library that completes them makes of each
  sdks.py check FORMAT      reads request bodies, one a line, and says of each whether the library's
                            own types allow it
"""

import json
import sys
import typing


def see_anthropic(url):
    import anthropic

    client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
    with client.messages.stream(
        model="m", max_tokens=100, messages=[{"role": "user", "content": "hi"}]
    ) as stream:
        message = stream.get_final_message()
    calls, text, thinking, signature = [], [], [], None
    for block in message.content:
        if block.type == "text":
            text.append(block.text)
        elif block.type == "thinking":
            thinking.append(block.thinking)
            signature = block.signature
        elif block.type == "tool_use":
            calls.append([block.id, block.name, block.input])
    usage = message.usage
    return {
        "text": "\n".join(text),
        "thinking": "\n".join(thinking),
        "signature": signature,
        "calls": calls,
        "stop": message.stop_reason,
        "input": usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
        "cache_read": usage.cache_read_input_tokens,
        "output": usage.output_tokens,
    }


def see_responses(url):
    import openai

    client = openai.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0)
    with client.responses.stream(model="m", input="hi") as stream:
        for event in stream:
            if event.type in ("response.completed", "response.incomplete"):
                response = event.response
    calls, text, thinking, signature = [], [], [], None
    for item in response.output:
        if item.type == "message":
            for part in item.content:
                text.append(part.text if part.type == "output_text" else part.refusal)
        elif item.type == "reasoning":
            thinking += [part.text for part in item.summary]
            signature = item.encrypted_content
        elif item.type == "function_call":
            calls.append([item.call_id, item.name, json.loads(item.arguments)])
    usage = response.usage
    return {
        "text": "\n".join(text),
        "thinking": "\n\n".join(thinking),
        "signature": signature,
        "calls": calls,
        "stop": response.status,
        "input": usage.input_tokens,
        "cache_read": usage.input_tokens_details.cached_tokens,
        "output": usage.output_tokens,
    }


def see_chat(url):
    import openai

    client = openai.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0)
    with client.chat.completions.stream(
        model="m",
        messages=[{"role": "user", "content": "hi"}],
        stream_options={"include_usage": True},
    ) as stream:
        try:
            completion = stream.until_done().get_final_completion()
        except openai.LengthFinishReasonError as cut:
            completion = cut.completion
    choice = completion.choices[0]
    message = choice.message
    calls = [
        [call.id, call.function.name, json.loads(call.function.arguments)]
        for call in message.tool_calls or []
    ]
    usage = completion.usage
    return {
        "text": message.content or message.refusal or "",
        "thinking": getattr(message, "reasoning_content", None) or "",
        "signature": None,
        "calls": calls,
        "stop": choice.finish_reason,
        "input": usage.prompt_tokens,
        "cache_read": usage.prompt_tokens_details.cached_tokens,
        "output": usage.completion_tokens,
    }


def see_gemini(url):
    import base64

    from google import genai
    from google.genai import types

    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url))
    calls, text, thinking, signature, stop, usage = [], "", "", None, None, None
    for chunk in client.models.generate_content_stream(model="m", contents="hi"):
        usage = chunk.usage_metadata or usage
        candidate = chunk.candidates[0]
        stop = candidate.finish_reason or stop
        for part in candidate.content.parts or []:
            if part.thought_signature:
                signature = base64.b64encode(part.thought_signature).decode()
            if part.function_call:
                call = part.function_call
                calls.append([call.id, call.name, call.args or {}])
            elif part.thought:
                thinking += part.text
            elif part.text:
                text += part.text
    return {
        "text": text,
        "thinking": thinking,
        "signature": signature,
        "calls": calls,
        "stop": stop.value,
        "input": usage.prompt_token_count,
        "cache_read": usage.cached_content_token_count or 0,
        "output": (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
    }


def checker(format):
    if format == "gemini":
        from google.genai import types

        def check(body):
            body = dict(body)
            for content in body.pop("contents"):
                types.Content.model_validate(content)
            for tool in body.pop("tools", []):
                types.Tool.model_validate(tool)
            types.Content.model_validate(body.pop("systemInstruction", {}))
            types.ToolConfig.model_validate(body.pop("toolConfig", {}))
            types.GenerateContentConfig.model_validate(body.pop("generationConfig"))
            if body:
                raise ValueError(f"unknown fields: {list(body)}")

        return check
    # A lazy list would be accepted without a look at what is in it.
    typing.Iterable = typing.List
    from pydantic import ConfigDict, TypeAdapter

    if format == "anthropic":
        from anthropic.types.message_create_params import MessageCreateParamsStreaming as Params
    elif format == "openai":
        from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as Params
    else:
        from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as Params
    Params.__pydantic_config__ = ConfigDict(extra="forbid")
    return TypeAdapter(Params).validate_python


def main():
    if sys.argv[1] == "see":
        see = {
            "anthropic": see_anthropic,
            "openai": see_responses,
            "openai-chat": see_chat,
            "gemini": see_gemini,
        }[sys.argv[2]]
        print(json.dumps(see(sys.argv[3])))
        return
    if sys.argv[1] == "partial":
        import jiter

        for line in sys.stdin:
            start = json.loads(line).encode()
            print(json.dumps(jiter.from_json(start, partial_mode="trailing-strings")))
        return
    check = checker(sys.argv[2])
    for line in sys.stdin:
        try:
            check(json.loads(line))
            print(json.dumps("ok"))
        except Exception as error:
            print(json.dumps(str(error)[:3000]))


main()
