import { encodeFrame, kinds, rpcResponseBody } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { messageOf } from '../connection/transports/websocket-frames.ts'
import { responseFrame } from './outgoing-frame.ts'

it.each([1, 109, 110, 65_523, 65_536])(
  '[R-BP-1] a response of %i bytes that waits holds no memory but its own',
  (bytes) => {
    const response = { request_id: 7n, ok: true, payload: new Uint8Array(bytes).fill(5) }
    const frame = responseFrame(response)
    const whole = encodeFrame(kinds.RPC_RESPONSE.first, rpcResponseBody.encode(response))
    expect(Buffer.compare(frame.bytes, whole)).toBe(0)
    const message = messageOf(frame)
    expect(message.subarray(-whole.length)).toEqual(frame.bytes)
    const held = new Set([frame.bytes.buffer, message.buffer])
    expect([...held].map(({ byteLength }) => byteLength)).toEqual([whole.length + 10])
  },
)
