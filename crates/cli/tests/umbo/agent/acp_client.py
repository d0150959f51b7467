"""The official client of the Agent Client Protocol, driven by lines of JSON.

    acp_client.py CHOICES UMBO WORDS...

A line in is {"id", "call", "with"}: a method of the library's connection and its arguments, or a method
of the protocol that the library has no name for. Lines out are answers, updates and questions, each as
the library has read and checked it. CHOICES is a JSON list of what the person says to questions; null is
nothing.
"""

import asyncio
import json
import os
import sys

import acp


def say(message):
    print(json.dumps(message), flush=True)


def plain(model):
    if hasattr(model, "model_dump"):
        return model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return model


class Person(acp.Client):
    def __init__(self, choices):
        self.choices = choices

    async def session_update(self, session_id, update, **_):
        say({"update": plain(update), "session": session_id})

    async def create_elicitation(self, message, mode, **_):
        choice = self.choices.pop(0)
        say({"asked": {"message": message, "form": plain(mode)}})
        return acp.AcceptElicitationResponse.model_validate(choice)

    async def request_permission(self, session_id, tool_call, options, **_):
        choice = self.choices.pop(0) if self.choices else None
        say({"asked": {"toolCall": plain(tool_call), "options": [plain(one) for one in options]}})
        if choice is None:
            await asyncio.Event().wait()
        return acp.RequestPermissionResponse.model_validate(
            {"outcome": {"outcome": "selected", "optionId": choice}}
        )


async def call(connection, request):
    try:
        name, words = request["call"], request["with"]
        if "/" in name:
            result = await connection._conn.send_request(name, words)
        else:
            result = await getattr(connection, name)(**words)
        say({"answer": request["id"], "result": plain(result)})
    except acp.RequestError as error:
        say({"answer": request["id"], "error": {"code": error.code, "message": str(error)}})


async def main():
    choices, command, *words = sys.argv[1:]
    person = Person(json.loads(choices))
    # The variables of the test are umbo's; it says itself what it has to say.
    spawned = acp.spawn_agent_process(
        person,
        command,
        *words,
        env=dict(os.environ),
        transport_kwargs={"stderr": None, "shutdown_timeout": 60},
        use_unstable_protocol=True,
    )
    async with spawned as (connection, process):
        capabilities = None
        if os.environ.get("SHOWS_FORMS"):
            elicitation = acp.schema.ElicitationCapabilities(form=acp.schema.ElicitationFormCapabilities())
            capabilities = acp.schema.ClientCapabilities(elicitation=elicitation)
        known = await connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION, client_capabilities=capabilities
        )
        say({"process": process.pid, "known": plain(known)})
        loop, tasks = asyncio.get_running_loop(), []
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            tasks.append(asyncio.create_task(call(connection, json.loads(line))))
        for task in tasks:
            task.cancel()


asyncio.run(main())
