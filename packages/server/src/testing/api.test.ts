import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createCaller } from './api.ts'

it.each([
  ['before its head', ''],
  ['behind its head', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx'],
])('an answer that breaks off %s rejects, and is nothing that nobody caught', async (_, text) => {
  const breakOff = (socket: Socket) => {
    socket.write(text, () => void setTimeout(() => socket.resetAndDestroy(), 20))
  }
  const server = createServer((socket) => void socket.once('data', () => breakOff(socket)))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await expect(createCaller(`http://127.0.0.1:${port}`)('GET', '/')).rejects.toThrow()
})
