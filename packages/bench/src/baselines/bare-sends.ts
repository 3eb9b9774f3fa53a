import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { move, place } from '../../game-state/motion.ts'

/**
 * Groups whose members all move, and get as many bytes as the argument says at each tick, one
 * `ws.send` each: what keeping a state in step costs at least. Grouped as they come.
 */
const [groupSize = 8, bytes = 64, hz = 20] = process.argv.slice(2).map(Number)

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
const body = Buffer.alloc(bytes)
let group: WebSocket[] = []
server.on('connection', (player) => {
  if (group.length === groupSize) group = []
  group.push(player)
  if (group.length === 1) begin(group)
})
server.on('listening', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`ready http=http://127.0.0.1:${port}\n`)
})

function begin(members: readonly WebSocket[]): void {
  const movers = Array.from({ length: groupSize }, (_, index) => place(index))
  setInterval(() => {
    for (const mover of movers) move(mover, 1 / hz)
    for (const member of members) {
      if (member.readyState === WebSocket.OPEN) member.send(body)
    }
  }, 1000 / hz)
}
