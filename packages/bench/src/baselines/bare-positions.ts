import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * What the reads and writes of relayed positions cost alone: when each member of a group has sent
 * its message, each gets one message as large as those of all others together. Nothing is looked
 * at: no header, no kind, no limit. Players are grouped in the order in which they come.
 */
const [groupSize = 0, messageBytes = 0, deliveryBytes = 0] = process.argv.slice(2).map(Number)
const round = roundMessage((groupSize - 1) * deliveryBytes)

type Group = { members: Duplex[]; sent: number }
let newest: Group = { members: [], sent: 0 }

const server = createServer()
server.on('upgrade', (request, socket) => {
  if (newest.members.length === groupSize) newest = { members: [], sent: 0 }
  const group = newest
  group.members.push(socket)
  let bytes = 0
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    for (bytes += piece.length; bytes >= messageBytes; bytes -= messageBytes) count(group)
  })
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
      `sec-websocket-accept: ${acceptKey(request.headers['sec-websocket-key'])}\r\n\r\n`,
  )
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`ready http=http://127.0.0.1:${port}\n`)
})

function count(group: Group): void {
  group.sent += 1
  if (group.sent < groupSize) return
  group.sent = 0
  for (const member of group.members) member.write(round)
}

/** An unmasked binary message of 126 to 65,535 bytes. */
function roundMessage(bytes: number): Buffer {
  const message = Buffer.alloc(4 + bytes)
  message.writeUInt16BE(0x82_7e)
  message.writeUInt16BE(bytes, 2)
  return message
}

function acceptKey(key: string | undefined): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
