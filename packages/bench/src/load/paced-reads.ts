import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection } from './http-connection.ts'

/**
 * Sends a request every `intervalMs` on one connection and answers how long each took, in
 * milliseconds. One that is late because the one before was slow is measured from when it was due:
 * a server that stands still must not hide it.
 */
export async function pacedLatencies(
  port: number,
  request: Buffer,
  { intervalMs, seconds }: { intervalMs: number; seconds: number },
): Promise<number[]> {
  const connection = await HttpConnection.open(port)
  const latencies: number[] = []
  const endMs = performance.now() + seconds * 1000
  let dueMs = performance.now()
  while (dueMs < endMs) {
    const isLate = dueMs < performance.now()
    if (!isLate) await sleep(Math.max(0, dueMs - performance.now()))
    const startMs = isLate ? dueMs : performance.now()
    await new Promise<void>((resolve, reject) => {
      connection.send(request, (status) => {
        latencies.push(performance.now() - startMs)
        if (status === 200) resolve()
        else reject(new Error(`a read was answered with ${status}`))
      })
    })
    dueMs += intervalMs
  }
  connection.close()
  return latencies
}
