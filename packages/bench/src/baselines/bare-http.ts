import { createServer } from 'node:http'

/** What Node.js itself can do: answers every request with the JSON text of its first argument. */
const body = Buffer.from(process.argv[2] ?? '{}')
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length }

const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.keepAliveTimeout = 65_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  process.stdout.write(`ready http=http://127.0.0.1:${port}\n`)
})
