// A server of the official SDK over Streamable HTTP, with a session for each client.
// Usage: server.mjs DIRECTORY, with the packages in UMBO_TEST_TOOLS. Prints its port.

import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = path.join(process.env.UMBO_TEST_TOOLS, 'mcp/node_modules/@modelcontextprotocol/sdk/dist/esm');
const load = file => import(pathToFileURL(path.join(packages, file)));
const { McpServer } = await load('server/mcp.js');
const { StreamableHTTPServerTransport } = await load('server/streamableHttp.js');
const { isInitializeRequest } = await load('types.js');

const directory = process.argv[2];

function server() {
    const server = new McpServer({ name: 'node-peer', version: '1' });
    server.registerTool('count', { description: 'Counts.' }, () => ({
        content: [{ type: 'text', text: 'one two three' }],
    }));
    server.registerTool('hang', { description: 'Never ends.' }, extra => {
        fs.writeFileSync(path.join(directory, 'hanging'), '');
        return new Promise((_, reject) => {
            extra.signal.addEventListener('abort', () => {
                fs.writeFileSync(path.join(directory, 'cancelled'), '');
                reject(new Error('aborted'));
            });
        });
    });
    return server;
}

const sessions = new Map();
const listener = http.createServer(async (request, response) => {
    if (request.headers['x-key'] !== 'open sesame') {
        response.writeHead(401).end();
        return;
    }
    let text = '';
    for await (const piece of request) text += piece;
    const body = text ? JSON.parse(text) : undefined;
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport && body && isInitializeRequest(body)) {
        transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: id => sessions.set(id, transport),
        });
        await server().connect(transport);
    }
    if (!transport) {
        response.writeHead(404).end();
        return;
    }
    await transport.handleRequest(request, response, body);
});
listener.listen(0, '127.0.0.1', () => console.log(listener.address().port));
