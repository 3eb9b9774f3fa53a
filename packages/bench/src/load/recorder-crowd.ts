import { gzipSync } from 'node:zlib'
import { createPlayer } from '@guildhall/client'
import { createConsoleClient } from '@guildhall/client/console'
import { recordLag } from '@guildhall/client/lag'
import { encodeLagHeader, lagFlags, lagHeaderBytes, lagRecordBytes } from '@guildhall/contract'

/**
 * A process whose players record and upload, one capture after the other, until it is asked to end;
 * then it prints how many recordings were taken: `PORT PLAYERS RECORDS`.
 */
const [port = '', players = '', records = ''] = process.argv.slice(2)
const url = `http://127.0.0.1:${port}`
const uploadsAtOnce = Number(players)
const uploadRecords = Number(records)
const packed = new Map<string, Uint8Array<ArrayBuffer>>()

let isOver = false
process.once('SIGTERM', () => {
  isOver = true
})

const client = createConsoleClient(url)
await client.signIn({ username: 'admin', password: 'password' })
const crowd = await openCrowd()
// Once all have uploaded, this process has loaded and compiled what it needs.
await crowd.upload()
process.stdout.write('ready\n')
let made = 0
while (!isOver) made += await crowd.upload()
await crowd.close()
process.stdout.write(`made=${made}\n`)

/** Players whose uploads are as large as the benchmark wants them. */
async function openCrowd() {
  let answered = 0
  const send: typeof fetch = async (input, init) => {
    if (!String(input).endsWith('/captures/upload')) return fetch(input, init)
    const answer = await fetch(input, { ...init, body: bodyOf(captureId) })
    answered += 1
    if (answer.status !== 204) throw new Error('an upload was refused')
    return answer
  }
  let captureId = ''
  const connections = await Promise.all(
    Array.from({ length: uploadsAtOnce }, async (_, index) => {
      const player = createPlayer(url, { fetch: send })
      const id = `recorder-${process.pid}-${index}`
      await player.signIn.device({ id, create: true, username: id })
      const connection = await player.connect({ transport: 'websocket' })
      recordLag(connection, { consent: () => true })
      return connection
    }),
  )
  const participants = connections.map(({ participant }) => participant)
  return {
    /** A capture from its start to its last upload; how many there were. */
    async upload(): Promise<number> {
      const filters = [{ kind: 100, direction: 'inbound' }]
      const options = { participants, filters, duration_ms: 60_000, max_bytes: 67_108_864 }
      answered = 0
      const { capture_id, started }: Started = await until(
        () => ask('lag.start', options),
        (reply) => reply !== undefined,
      )
      captureId = capture_id
      const one = { capture_id: captureId }
      await until(
        () => ask('lag.status', one),
        ({ recorders }) => recorders.every(({ status }: Recorder) => status === 'recording'),
      )
      await ask('lag.flush', one)
      await until(
        async () => answered,
        // Who has not said yet that it can record is left out.
        (count) => count === started.length,
      )
      return answered
    },
    close: () => Promise.all(connections.map((connection) => connection.close())),
  }
}

type Started = { capture_id: string; started: readonly number[] }
type Recorder = { status: string }

async function until<T>(read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (isThere(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** What is answered, undefined for a refusal. */
async function ask(method: string, payload: object) {
  const body = { payload: JSON.stringify(payload) }
  const answer = await client.runtime.rpc({ params: { method }, body })
  return answer.ok ? JSON.parse(answer.reply) : undefined
}

/** Records in one gzip member, stored and not packed: the load's own core must stay free. */
function bodyOf(captureId: string): Uint8Array<ArrayBuffer> {
  const known = packed.get(captureId)
  if (known !== undefined) return known
  const bytes = Buffer.alloc(lagHeaderBytes + uploadRecords * lagRecordBytes)
  bytes.set(
    encodeLagHeader({
      flags: lagFlags.metadata,
      record_count: uploadRecords,
      accepted: uploadRecords,
      overwritten: 0,
      skipped_by_filter: 0,
      skipped_as_malformed: 0,
      capture_id: captureId,
      generation: 1,
      clock_uncertainty_us: 0,
      server_utc_us: 0,
      clock_samples: [],
    }),
  )
  for (let index = 0; index < uploadRecords; index += 1) {
    const at = lagHeaderBytes + index * lagRecordBytes
    bytes.writeUInt32BE(index * 2000 + ((index * 7919) % 1999), at)
    bytes.writeUInt16BE(100, at + 4)
    bytes.writeUInt8(2, at + 7)
    bytes.writeUInt32BE((index * 31) % 997, at + 8)
  }
  packed.clear()
  packed.set(captureId, new Uint8Array(gzipSync(bytes, { level: 0 })))
  return bodyOf(captureId)
}
