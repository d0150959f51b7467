// A proxy that adds the token to every request and changes nothing else, for clients that cannot
// send one. Usage: proxy.mjs URL, with the token in UMBO_MCP_TOKEN. Prints its own address.

import http from 'node:http';

const target = new URL(process.argv[2]);
const authorization = `Bearer ${process.env.UMBO_MCP_TOKEN}`;

const server = http.createServer((request, response) => {
    const options = {
        host: target.hostname,
        port: target.port,
        method: request.method,
        path: request.url,
        headers: { ...request.headers, authorization },
    };
    const forwarded = http.request(options, answer => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    // Whoever leaves takes the other side along.
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    request.pipe(forwarded);
});
server.listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${server.address().port}${target.pathname}`);
});
