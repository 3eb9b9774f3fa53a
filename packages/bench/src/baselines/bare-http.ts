import { createServer } from 'node:http'

/** What Node.js itself can do: answers every request with the JSON text of its first argument. */
const body = process.argv[2] ?? '{}'
const headers = {
  'Content-Type': 'application/json',
  'Content-Length': Buffer.byteLength(body),
}

const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  // A text travels in one write with its head; bytes would be a second one.
  response.end(body)
})
server.keepAliveTimeout = 65_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  process.stdout.write(`ready http=http://127.0.0.1:${port}\n`)
})
