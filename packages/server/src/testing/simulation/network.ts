import type { Bus, BusEvents } from '../../kernel/cluster/bus.ts'
import type { Process, World } from './world.ts'

/** What the network does to messages, for as long as a fault lasts. */
export type Weather = {
  /** How likely a message is lost, or comes twice. */
  loss: number
  doubles: number
  /** Messages of one node to another overtake each other by up to so much. */
  jitterMs: number
  slowMs: number
}

export const calm: Weather = { loss: 0, doubles: 0, jitterMs: 0, slowMs: 0 }

/** A bus whose messages take their time, and that does to them what faults say. */
export type Network = {
  connect(boot: string, process: Process): Bus
  setWeather(weather: Weather): void
  /** Cuts a boot off, or joins it again; it notices. */
  cut(boot: string, isCut: boolean): void
  /** Nothing passes between the two; nobody notices. */
  part(one: string, other: string, isApart: boolean): void
  /** So many bytes wait for a moment. */
  choke(boot: string, bytes: number): void
  heal(): void
}

type End = {
  process: Process
  events: BusEvents | undefined
  isCut: boolean
  waitingBytes: number
}

export function createNetwork(world: World): Network {
  const random = world.random('network')
  const ends = new Map<string, End>()
  const apart = new Set<string>()
  const arrivals = new Map<string, number>()
  let weather = calm
  const pair = (from: string, to: string) => `${from} ${to}`

  function transmit(from: string, to: string, message: Uint8Array): void {
    const [source, target] = [ends.get(from), ends.get(to)]
    if (source === undefined || source.isCut || source.process.isDead || target === undefined)
      return
    const { loss, doubles } = weather
    if (apart.has(pair(from, to)) || random.chance(loss)) return
    const copies = random.chance(doubles) ? 2 : 1
    for (let copy = 0; copy < copies; copy += 1) carry(target, pair(from, to), message.slice())
  }

  function carry(target: End, way: string, message: Uint8Array): void {
    const { slowMs, jitterMs } = weather
    const nowMs = world.nowMs()
    const dueMs = nowMs + 0.2 + random.fraction() + slowMs
    const inOrderMs = Math.max(dueMs, arrivals.get(way) ?? 0)
    arrivals.set(way, inOrderMs)
    const atMs = inOrderMs + random.fraction() * jitterMs
    world.after(atMs - nowMs, () => {
      if (target.isCut) return
      target.process.enter(() => target.events?.received(message))
    })
  }

  const network: Network = {
    setWeather(next) {
      weather = next
    },
    connect(boot, process) {
      const end: End = { process, events: undefined, isCut: false, waitingBytes: 0 }
      return {
        async start(events) {
          end.events = events
          ends.set(boot, end)
        },
        send: (to, message) => transmit(boot, to, message),
        sendAll(message) {
          for (const to of ends.keys()) if (to !== boot) transmit(boot, to, message)
        },
        get isUp() {
          return !end.isCut
        },
        get waitingBytes() {
          return end.waitingBytes
        },
        async close() {
          ends.delete(boot)
        },
      }
    },
    cut(boot, isCut) {
      const end = ends.get(boot)
      if (end === undefined || end.isCut === isCut) return
      end.isCut = isCut
      end.process.enter(() => end.events?.changed(!isCut))
    },
    part(one, other, isApart) {
      for (const way of [pair(one, other), pair(other, one)]) {
        if (isApart) apart.add(way)
        else apart.delete(way)
      }
    },
    choke(boot, waitingBytes) {
      const end = ends.get(boot)
      if (end !== undefined) end.waitingBytes = waitingBytes
    },
    heal() {
      weather = calm
      apart.clear()
      for (const [boot, end] of ends) {
        end.waitingBytes = 0
        network.cut(boot, false)
      }
    },
  }
  return network
}
