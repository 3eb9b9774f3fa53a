import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** What the library under the product can do: sends every message back. */
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
server.on('connection', (socket) => {
  socket.on('message', (message, isBinary) => socket.send(message, { binary: isBinary }))
})
server.on('listening', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`ready http=http://127.0.0.1:${port}\n`)
})
