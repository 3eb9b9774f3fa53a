import { readFileSync } from 'node:fs'
import { connect, credsAuthenticator, type Msg, type NatsConnection } from '@nats-io/transport-node'
import type { Bus, BusEvents } from '../../kernel/cluster/bus.ts'
import { BadMessage } from '../../kernel/cluster/wire.ts'
import type { Log } from '../../kernel/log/log.ts'
import { createCutter, createJoiner, gatherByTurn, messagesOf } from './packets.ts'

export type NatsBusOptions = {
  /** One address, or several with commas between. */
  url: string
  credentialsFile: string | undefined
  clusterId: string
  bootId: string
  log: Log
  /** 8 bytes that name this sender. */
  sender: Uint8Array
  /** What came is no message of a node. */
  invalid(): void
}

const connectMs = 5000
/** Below the smallest `max_payload` that is in use. */
const partBytes = 512 * 1024
/** A silent server is noticed within two of them, in milliseconds. */
const pingEveryMs = 2000

/** Messages over NATS: one subject for each boot and one for all. */
export function createNatsBus(options: NatsBusOptions): Bus {
  const { log, clusterId } = options
  const subjectOf = (boot: string) => `guildhall.${clusterId}.${boot}`
  const cut = createCutter(options.sender, partBytes)
  const ownSender = Buffer.from(options.sender).toString('latin1')
  let connection: NatsConnection | undefined
  let events: BusEvents | undefined
  let isUp = false
  let join = createJoiner()

  const gathering = gatherByTurn((packets) => {
    // What is published without a connection would be sent later, as if nothing had been missed.
    if (!isUp) return
    for (const { target, packet } of packets) {
      for (const part of cut(packet)) connection?.publish(target, part)
    }
  })

  function received(error: Error | null, { data }: Msg): void {
    if (error !== null) return
    try {
      if (Buffer.from(data.subarray(0, 8)).toString('latin1') === ownSender) return
      const packet = join(data)
      if (packet === undefined) return
      for (const message of messagesOf(packet)) events?.received(message)
    } catch (failure) {
      if (!(failure instanceof BadMessage)) throw failure
      options.invalid()
    }
  }

  function change(next: boolean): void {
    if (isUp === next) return
    isUp = next
    if (!next) join = createJoiner()
    events?.changed(next)
  }

  async function watch(opened: NatsConnection): Promise<void> {
    for await (const { type } of opened.status()) {
      if (type === 'disconnect' || type === 'staleConnection') {
        log.warn('the bus has lost its connection')
        change(false)
      } else if (type === 'reconnect') {
        log.info('the bus is connected again')
        change(true)
      }
    }
  }

  return {
    async start(given) {
      events = given
      const opened = await connect({
        servers: options.url.split(',').map((each) => each.trim()),
        name: 'guildhall',
        timeout: connectMs,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 500,
        pingInterval: pingEveryMs,
        maxPingOut: 2,
        ...(options.credentialsFile !== undefined && {
          authenticator: credsAuthenticator(readFileSync(options.credentialsFile)),
        }),
      })
      connection = opened
      opened.subscribe(subjectOf(options.bootId), { callback: received })
      opened.subscribe(subjectOf('all'), { callback: received })
      await opened.flush()
      void watch(opened)
      change(true)
    },
    send: (boot, message) => gathering.add(subjectOf(boot), message),
    sendAll: (message) => gathering.add(subjectOf('all'), message),
    get isUp() {
      return isUp
    },
    get waitingBytes() {
      return gathering.bytes
    },
    async close() {
      isUp = false
      await connection?.drain().catch(() => {})
    },
  }
}
