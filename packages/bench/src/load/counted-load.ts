import { percentile } from '../statistics.ts'
import { HttpConnection } from './http-connection.ts'
import type { HttpLoad } from './http-load.ts'

type CountedLoad = Pick<HttpLoad, 'request' | 'onResponse' | 'status'> & {
  port: number
  connections: number
  /** How many requests there are in all. */
  count: number
}

export type CountedOutcome = { perSecond: number; p99Ms: number }

/** Sends so many requests, one in flight on every connection, from the first one on. */
export async function runCountedLoad(load: CountedLoad): Promise<CountedOutcome> {
  const { port, count, request, onResponse } = load
  const expected = [load.status].flat()
  const latencies: number[] = []
  let begun = 0

  async function serve(index: number, connection: HttpConnection): Promise<void> {
    while (begun < count) {
      begun += 1
      const startMs = performance.now()
      const sent = request(index)
      await new Promise<void>((resolve, reject) => {
        connection.send(sent, (status, response) => {
          latencies.push(performance.now() - startMs)
          onResponse?.(index, response)
          if (expected.includes(status)) resolve()
          else reject(new Error(`an unexpected response:\n${response.toString('utf8', 0, 600)}`))
        })
      })
    }
  }

  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => HttpConnection.open(port)),
  )
  const startMs = performance.now()
  try {
    await Promise.all(connections.map((connection, index) => serve(index, connection)))
    const seconds = (performance.now() - startMs) / 1000
    return { perSecond: latencies.length / seconds, p99Ms: percentile(latencies, 0.99) }
  } finally {
    for (const connection of connections) connection.close()
  }
}
