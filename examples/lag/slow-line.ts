import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to the node that is slow, and stalls every second, as a bad wireless network does. */
export type SlowLine = { url: string; close(): void }

const delayMs = 40
const stallEveryMs = 1000
const stallMs = 500

export async function openSlowLine(baseUrl: string): Promise<SlowLine> {
  const { hostname, port } = new URL(baseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      let before = Promise.resolve()
      from.on('data', (bytes) => {
        const due = sleep(waitMs())
        before = before.then(() => due).then(() => void to.write(bytes))
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        void before.then(() => to.end())
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** What comes during a stall waits for its end. */
function waitMs(): number {
  const intoSecond = Date.now() % stallEveryMs
  return delayMs + Math.max(0, stallMs - intoSecond)
}
