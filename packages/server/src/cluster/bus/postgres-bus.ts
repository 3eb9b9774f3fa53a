import pg from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { type Bus, type BusEvents, BusUnfit } from '../../kernel/cluster/bus.ts'
import { BadMessage } from '../../kernel/cluster/wire.ts'
import type { Log } from '../../kernel/log/log.ts'
import { within } from '../../kernel/time/within.ts'
import { createCutter, createJoiner, gatherByTurn, messagesOf } from './packets.ts'

export type PostgresBusOptions = {
  /** The database itself, or a way to it without a pooler in transaction mode. */
  url: string
  clusterId: string
  bootId: string
  clock: Clock
  log: Log
  /** 8 bytes that name this sender. */
  sender: Uint8Array
  /** What came is no message of a node. */
  invalid(): void
}

/** A payload is below 8,000 bytes of text, in base64. */
const partBytes = 5950
const connectMs = 5000
const selfTestMs = 5000
const retryMs = 1000
/** How often the connection that listens is asked for a sign of life. */
const aliveEveryMs = 2000
const aliveWithinMs = 4000

/**
 * Messages as notifications of PostgreSQL: one channel for each boot and one for all. One
 * connection listens, another one sends, so that neither waits for the other.
 */
export function createPostgresBus(options: PostgresBusOptions): Bus {
  const { clock, log, clusterId } = options
  const own = channelOf(clusterId, options.bootId)
  const all = channelOf(clusterId, 'all')
  const cut = createCutter(options.sender, partBytes)
  const ownSender = Buffer.from(options.sender).toString('latin1')
  let events: BusEvents | undefined
  let listening: pg.Client | undefined
  let sending: pg.Client | undefined
  let isUp = false
  let isClosed = false
  let onSelfTest: (() => void) | undefined
  let queue: { channel: string; parts: Uint8Array[] }[] = []
  let queuedBytes = 0
  let isSending = false

  const gathering = gatherByTurn((packets) => {
    for (const { target, packet } of packets) {
      const parts = cut(packet)
      queue.push({ channel: target, parts })
      for (const part of parts) queuedBytes += part.length
    }
    void sendQueued()
  })

  /** What waits leaves as one statement; the next one takes what came meanwhile. */
  async function sendQueued(): Promise<void> {
    if (isSending) return
    isSending = true
    while (queue.length > 0) {
      const batch = queue
      queue = []
      const client = sending
      const channels: string[] = []
      const payloads: string[] = []
      let bytes = 0
      for (const { channel, parts } of batch) {
        for (const part of parts) {
          channels.push(channel)
          payloads.push(Buffer.from(part).toString('base64'))
          bytes += part.length
        }
      }
      try {
        await client?.query(notify, [channels, payloads])
      } catch (error) {
        if (client !== undefined) lost(client, error)
      }
      queuedBytes -= bytes
    }
    isSending = false
  }

  function received({ channel, payload = '' }: pg.Notification): void {
    if (channel !== own && channel !== all) return
    try {
      const part = Buffer.from(payload, 'base64')
      if (part.subarray(0, 8).toString('latin1') === ownSender) {
        if (channel === own) onSelfTest?.()
        return
      }
      const packet = join(part)
      if (packet === undefined) return
      for (const message of messagesOf(packet)) events?.received(message)
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error
      options.invalid()
    }
  }
  let join = createJoiner()

  function lost(client: pg.Client, error: unknown): void {
    if (isClosed || (client !== listening && client !== sending)) return
    log.warn('the bus has lost its connection', { error })
    for (const each of [listening, sending]) void each?.end().catch(() => {})
    listening = undefined
    sending = undefined
    join = createJoiner()
    change(false)
    clock.after(retryMs, () => void reconnect())
  }

  function change(next: boolean): void {
    if (isUp === next) return
    isUp = next
    events?.changed(next)
  }

  async function open(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: options.url,
      keepAlive: true,
      application_name: 'guildhall bus',
      connectionTimeoutMillis: connectMs,
    })
    client.on('error', (error) => lost(client, error))
    client.on('end', () => lost(client, undefined))
    await client.connect()
    return client
  }

  async function connect(): Promise<void> {
    const listener = await open()
    const sender = await open()
    listening = listener
    sending = sender
    listener.on('notification', received)
    await listener.query(`LISTEN ${own}; LISTEN ${all}`)
    await sender.query('SET synchronous_commit = off')
    watch(listener)
  }

  async function reconnect(): Promise<void> {
    if (isClosed) return
    try {
      await connect()
      log.info('the bus is connected again')
      change(true)
    } catch (error) {
      log.warn('the bus cannot be connected yet', { error })
      for (const each of [listening, sending]) void each?.end().catch(() => {})
      listening = undefined
      sending = undefined
      if (!isClosed) clock.after(retryMs, () => void reconnect())
    }
  }

  /** A connection that only listens would not notice that its peer is gone. */
  function watch(client: pg.Client): void {
    if (isClosed || client !== listening) return
    let isAnswered = false
    client.query('SELECT 1').then(
      () => {
        isAnswered = true
        clock.after(aliveEveryMs, () => watch(client))
      },
      (error) => lost(client, error),
    )
    clock.after(aliveWithinMs, () => {
      if (!isAnswered) lost(client, new Error('the connection of the bus is silent'))
    })
  }

  /** A pooler in transaction mode takes LISTEN and never delivers. */
  async function testSelf(): Promise<void> {
    const back = new Promise<void>((resolve) => {
      onSelfTest = resolve
    })
    gathering.add(own, new Uint8Array())
    const answer = await within(
      clock,
      selfTestMs,
      back.then(() => 'back' as const),
    )
    onSelfTest = undefined
    if (answer === 'back') return
    throw new BusUnfit(
      'a notification does not come back: behind a pooler in transaction mode ' +
        'cluster.listen_url must be the database itself',
    )
  }

  return {
    async start(given) {
      events = given
      await connect()
      await testSelf()
      change(true)
    },
    send: (boot, message) => gathering.add(channelOf(clusterId, boot), message),
    sendAll: (message) => gathering.add(all, message),
    get isUp() {
      return isUp
    },
    get waitingBytes() {
      return queuedBytes + gathering.bytes
    },
    async close() {
      await sendQueued()
      isClosed = true
      isUp = false
      await Promise.all([listening, sending].map((client) => client?.end().catch(() => {})))
    },
  }
}

/** Letters, digits and `_` need no quotes; names of channels have at most 63 bytes. */
function channelOf(clusterId: string, boot: string): string {
  return `gh_${clusterId.replaceAll('-', '_')}_${boot.replace('bt1-', '')}`.slice(0, 63)
}

/** All parts of a turn in one statement, and so in one transaction, in their order. */
const notify = 'SELECT pg_notify(unnest($1::text[]), unnest($2::text[]))'
