import { expect, test } from 'vitest'
import { createGatewayMetrics } from '../metrics.ts'
import type { Receiver } from '../play.port.ts'
import { OpenCalls } from './open-calls.ts'

function recorded() {
  const lines: string[] = []
  const receiver = {
    replied: (id: bigint, { ok }: { ok: boolean }) => void lines.push(`replied ${id} ${ok}`),
    settled: (kind: number, outcome: string) => void lines.push(`settled ${kind} ${outcome}`),
    unhandled: (kind: number, reason: string) => void lines.push(`unhandled ${kind} ${reason}`),
  } as unknown as Receiver
  return { lines, receiver }
}

test('[R-RPC-1, R-CL-7] the connection that asked gets the answer, not the one behind it', () => {
  const calls = new OpenCalls(createGatewayMetrics())
  const [before, now] = [recorded(), recorded()]
  calls.rpc(1, { requestId: 7n, receiver: before.receiver })
  calls.rpc(2, { requestId: 7n, receiver: now.receiver })
  calls.message({ kind: 100, receiver: before.receiver })
  calls.replied({ type: 'replied', visit: 1, call: 1, ok: true, payload: new Uint8Array() })
  calls.fail()
  expect(before.lines).toEqual(['replied 7 true', 'settled 100 unavailable'])
  expect(now.lines).toEqual(['replied 7 false'])
})
