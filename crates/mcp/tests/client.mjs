// The official TypeScript SDK drives `umbo mcp`, on standard input or over HTTP.
//
// Usage: client.mjs stdio UMBO NAP
//        client.mjs http URL NAP, with the token in UMBO_MCP_TOKEN
//
// Prints one line for each thing that was seen to work, and fails loudly at the first that does not.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [transport, target, nap] = process.argv.slice(2);
const packages = path.join(process.env.UMBO_TEST_TOOLS, 'mcp/node_modules/@modelcontextprotocol');
const load = file => import(pathToFileURL(path.join(packages, file)));

const { Client, StreamableHTTPClientTransport } = await load('client/dist/index.mjs');
const { StdioClientTransport } = await load('client/dist/stdio.mjs');
const older = {
    ...(await load('sdk/dist/esm/client/index.js')),
    ...(await load('sdk/dist/esm/client/stdio.js')),
    ...(await load('sdk/dist/esm/client/streamableHttp.js')),
};

const said = line => console.log(line);

/** A connection to the server, by the classes of one of the two SDKs. */
function connection(sdk = { StdioClientTransport, StreamableHTTPClientTransport }) {
    if (transport === 'stdio') {
        return new sdk.StdioClientTransport({ command: target, args: ['mcp'], env: process.env });
    }
    const headers = { Authorization: `Bearer ${process.env.UMBO_MCP_TOKEN}` };
    return new sdk.StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } });
}

/** What the server says unasked. */
class Ears {
    heard = [];
    #waiting = [];

    hear(notification) {
        this.heard.push(notification);
        this.#waiting = this.#waiting.filter(({ fits, found }) => !(fits(notification) && found(notification)));
    }

    until(fits) {
        const already = this.heard.find(fits);
        if (already) return already;
        return new Promise((resolve, reject) => {
            const late = setTimeout(() => reject(new Error(`only heard ${JSON.stringify(this.heard)}`)), 20_000);
            const found = notification => (clearTimeout(late), resolve(notification), true);
            this.#waiting.push({ fits, found });
        });
    }
}

/** Answers what it is asked, as it was told to. */
class Person {
    answers = [];
    asked = [];

    answer(request) {
        this.asked.push(request.params);
        return this.answers.shift();
    }
}

async function works(client, label, person, ears) {
    const call = async (name, args, options) => {
        const result = await client.callTool({ name, arguments: args }, options);
        assert.ok(!result.isError, JSON.stringify(result));
        return result.structuredContent;
    };

    const names = (await client.listTools()).tools.map(tool => tool.name);
    for (const name of ['exec', 'output', 'input', 'wait', 'stop', 'jobs']) assert.ok(names.includes(name), names);
    said(`${label}: lists ${names.join(' ')}`);

    const answer = await call('exec', { command: 'echo hi; exit 3' });
    assert.deepEqual([answer.output, answer.exit_code], ['hi\n', 3]);

    // In the background, waited for, read as a resource.
    const { job } = await call('exec', { command: 'echo ready; read x; seq 1 2000', background: true });
    assert.equal((await call('wait', { job, match: 'ready' })).reason, 'match');
    await resources(client, label, job, call, ears);
    const met = await call('wait', { job });
    assert.deepEqual([met.reason, met.exit_code], ['exit', 0]);
    const read = await client.readResource({ uri: `umbo://jobs/${job}/output?lines=2001-` });
    assert.equal(read.contents[0].text, '2000\n');
    said(`${label}: background, wait, resources`);

    // Progress while it runs.
    const ticks = [];
    const line = 'for i in 1 2 3 4; do echo step $i; sleep 0.3; done';
    await call('exec', { command: line }, { onprogress: tick => ticks.push(tick) });
    assert.ok(ticks.some(tick => tick.message.includes('step')), JSON.stringify(ticks));
    said(`${label}: ${ticks.length} ticks`);

    const wrong = await client.callTool({ name: 'exec', arguments: { comand: 'x' } });
    assert.ok(wrong.isError && wrong.structuredContent.error.field === 'comand');

    await approvals(client, label, person);

    // Cancelled by the caller: the command goes with the call.
    const controller = new AbortController();
    const name = `cancelled-ts-${label}`;
    const cancelled = client.callTool(
        { name: 'exec', arguments: { command: `echo up; ${nap}`, name } },
        { signal: controller.signal, onprogress: () => controller.abort('changed my mind') }
    );
    await assert.rejects(cancelled);
    assert.equal((await call('wait', { job: name, timeout: 15 })).state, 'stopped');
    said(`${label}: cancelled`);

    // Given up on, because its own time was over: the command goes on, and the next result says so. In
    // the newest revision a stream is closed without a word, and that means to stop.
    if (!label.includes('http-2026')) {
        const given = `given-up-ts-${label}`;
        const late = client.callTool(
            { name: 'exec', arguments: { command: `echo begun; ${nap}`, name: given } },
            { timeout: 1000 }
        );
        await assert.rejects(late, /timed out/i);
        let told = '';
        while (!told.includes('gave up')) {
            const next = await client.callTool({ name: 'jobs', arguments: {} });
            told = next.content.map(block => block.text).join('\n');
        }
        assert.match(told, /begun\n.*still running/);
        assert.equal((await call('stop', { job: given, kill: true })).stopped[0].state, 'stopped');
        said(`${label}: given up on`);
    }

    const many = Array.from({ length: 64 }, (_, n) => call('exec', { command: `echo ${n}` }));
    assert.deepEqual((await Promise.all(many)).map(answer => answer.output), many.map((_, n) => `${n}\n`));
    said(`${label}: 64 at once`);

    await call('exec', { command: nap, background: true, name: `stays-ts-${label}` });
    await call('exec', { command: nap, yield: 0.1, on_disconnect: 'stop', name: `goes-ts-${label}` });
}

/** The output of a running job: listed, read, subscribed to. */
async function resources(client, label, job, call, ears) {
    const uri = `umbo://jobs/${job}/output`;
    assert.ok((await client.listResources()).resources.some(resource => resource.uri === uri));
    assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 3);
    assert.equal((await client.readResource({ uri })).contents[0].text, 'ready\n');
    await assert.rejects(client.readResource({ uri: 'umbo://jobs/nothing/output' }));
    const isUpdate = heard => heard.method.endsWith('resources/updated') && heard.params.uri === uri;
    const isNewList = heard => heard.method.endsWith('resources/list_changed');
    const isModern = client.getNegotiatedProtocolVersion() >= '2026-07-28';
    const subscription = isModern
        ? await client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true })
        : await client.subscribeResource({ uri });
    await call('input', { job, text: 'go\n' });
    await call('exec', { command: 'echo another' });
    await ears.until(isUpdate);
    await ears.until(isNewList);
    if (isModern) await subscription.close();
    else await client.unsubscribeResource({ uri });
}

/** A dangerous command runs when the person says so, and not when it does not. */
async function approvals(client, label, person) {
    for (const decision of ['once', 'deny']) {
        const victim = `victim-ts-${decision}-${label}`;
        fs.mkdirSync(victim);
        person.answers = [{ action: 'accept', content: { decision, reason: 'it is precious' } }];
        const result = await client.callTool({ name: 'exec', arguments: { command: `rm -rf ${victim}` } });
        assert.ok(person.asked.at(-1).message.includes(`rm -rf ${victim}`));
        assert.equal(fs.existsSync(victim), decision === 'deny');
        if (decision === 'deny') assert.equal(result.structuredContent.error.code, 'denied');
        else assert.equal(result.structuredContent.exit_code, 0);
    }
    assert.equal(person.asked.length, 2);
    said(`${label}: asked, and did what it was told`);
}

for (const mode of ['legacy', { pin: '2026-07-28' }]) {
    const [person, ears] = [new Person(), new Ears()];
    const client = new Client(
        { name: 'umbo-test', version: '1' },
        { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } }
    );
    client.setRequestHandler('elicitation/create', request => person.answer(request));
    for (const method of ['resources/updated', 'resources/list_changed']) {
        client.setNotificationHandler(`notifications/${method}`, heard => ears.hear(heard));
    }
    await client.connect(connection());
    const label = `${transport}-${client.getNegotiatedProtocolVersion()}`;
    await works(client, label, person, ears);
    if (transport === 'http' && mode === 'legacy') await client.transport.terminateSession();
    await client.close();
}

// The line of releases that most hosts still use.
const client = new older.Client({ name: 'umbo-test', version: '1' });
await client.connect(connection(older));
const answer = await client.callTool({ name: 'exec', arguments: { command: 'echo hi' } });
assert.equal(answer.structuredContent.output, 'hi\n');
await client.close();
said('done');
