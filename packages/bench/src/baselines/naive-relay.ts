import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/**
 * The relay that everybody writes first: each message of a player is sent to the other players of
 * the group, one by one. Players are grouped in the order in which they come.
 */
const groupSize = Number(process.argv[2] ?? 8)

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
let group: WebSocket[] = []
server.on('connection', (player) => {
  if (group.length === groupSize) group = []
  const members = group
  members.push(player)
  player.on('message', (message, isBinary) => {
    for (const other of members) {
      if (other === player || other.readyState !== WebSocket.OPEN) continue
      other.send(message, { binary: isBinary })
    }
  })
})
server.on('listening', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`ready http=http://127.0.0.1:${port}\n`)
})
