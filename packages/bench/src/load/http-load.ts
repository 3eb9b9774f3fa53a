import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../processes/child.ts'
import { HttpConnection } from './http-connection.ts'
import { startWindow, type Window } from './window.ts'

export type HttpLoad = {
  server: Child
  connections: number
  /** The request of each connection; it may differ from call to call. */
  request: (connection: number) => Buffer
  /** Called with each response before the next request of its connection is made. */
  onResponse?: (connection: number, response: Buffer) => void
  /** The statuses that count as done; another one ends the benchmark. */
  status: number | readonly number[]
  seconds: number
}

/** What happened between the warm-up and the end. */
export type HttpOutcome = Window & { responses: number; perSecond: number; perCpuSecond: number }

/** Shares of the duration that are not measured, while compilers and caches settle. */
export const warmUpShare = 0.3

/** Keeps one request in flight on every connection. */
export async function runHttpLoad(load: HttpLoad): Promise<HttpOutcome> {
  const { server, request, status, seconds } = load
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () => HttpConnection.open(server.port)),
  )
  const done = [status].flat()
  let responses = 0
  let unexpected: string | undefined
  let isOver = false
  for (const [index, connection] of connections.entries()) {
    const onResponse = (answered: number, response: Buffer) => {
      if (isOver) return
      if (done.includes(answered)) {
        responses += 1
        load.onResponse?.(index, response)
      } else unexpected ??= response.toString('utf8', 0, 600)
      connection.send(request(index), onResponse)
    }
    connection.send(request(index), onResponse)
  }
  await sleep(seconds * warmUpShare * 1000)
  const before = responses
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window = end()
  const counted = responses - before
  isOver = true
  for (const connection of connections) connection.close()
  if (unexpected !== undefined) throw new Error(`an unexpected response:\n${unexpected}`)
  return {
    ...window,
    responses: counted,
    perSecond: counted / window.seconds,
    perCpuSecond: (counted * 1000) / window.cpuMs,
  }
}
