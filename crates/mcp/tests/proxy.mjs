// A proxy that adds the token to every request, for clients that cannot send one. The tools that the
// conformance suite asks for are calls of umbo's own here: a suite can only be about tools that there are.
// Usage: proxy.mjs URL, with the token in UMBO_MCP_TOKEN. Prints its own address.

import http from 'node:http';

const target = new URL(process.argv[2]);
const authorization = `Bearer ${process.env.UMBO_MCP_TOKEN}`;

const exec = command => ({ name: 'exec', arguments: { command } });
const asks = exec('rm -rf conformance-victim');
const FIXTURES = {
    test_simple_text: exec("echo 'This is a simple text response for testing.'"),
    test_error_handling: { name: 'exec', arguments: {} },
    test_tool_with_progress: exec('for step in 1 2 3 4; do echo $step; sleep 0.3; done'),
    test_elicitation: asks,
    test_input_required_result_elicitation: asks,
    test_input_required_result_request_state: asks,
    test_input_required_result_tampered_state: asks,
    test_input_required_result_capabilities: asks,
};

/** The same message, about a tool that there is. */
function mapped(body, headers) {
    let message;
    try {
        message = JSON.parse(body);
    } catch {
        return body;
    }
    const fixture = message.method === 'tools/call' && FIXTURES[message.params?.name];
    if (!fixture) return body;
    if (headers['mcp-name'] === message.params.name) headers['mcp-name'] = fixture.name;
    Object.assign(message.params, fixture);
    return Buffer.from(JSON.stringify(message));
}

const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', part => parts.push(part));
    request.on('end', () => {
        const headers = { ...request.headers, authorization };
        const body = mapped(Buffer.concat(parts), headers);
        delete headers['transfer-encoding'];
        headers['content-length'] = body.length;
        const { hostname: host, port } = target;
        const options = { host, port, method: request.method, path: request.url, headers };
        const forwarded = http.request(options, answer => {
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        });
        // Whoever leaves takes the other side along.
        forwarded.on('error', () => response.destroy());
        response.on('close', () => forwarded.destroy());
        forwarded.end(body);
    });
});
server.listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${server.address().port}${target.pathname}`);
});
