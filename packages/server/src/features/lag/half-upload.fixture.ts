import { connect, type Socket } from 'node:net'
import { lagContentType } from '@guildhall/contract'
import { uploadPath } from './lag.fixture.ts'

export type HalfUpload = { socket: Socket; answer(): string }

/** An upload whose last byte does not come, or nothing behind its head. */
export function halfUpload(
  url: string,
  token: string,
  body: Buffer,
  head = body.subarray(0, -1),
): HalfUpload {
  const { hostname, port } = new URL(url)
  let answer = ''
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.on('data', (data) => {
    answer += data.toString()
  })
  socket.write(
    `POST ${uploadPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: ${lagContentType}\r\nContent-Encoding: gzip\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(head)
  return { socket, answer: () => answer }
}
