import type { IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import {
  decodeLagHeader,
  diagCapabilitiesBody,
  diagFlushBody,
  diagServerTimeBody,
  diagStartBody,
  diagStatusBody,
  kinds,
} from '@guildhall/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type LagOptions, type LagRequest, recordLag } from './lag.ts'
import { heard, openConnected, settle } from './testing/connected.ts'
import type { FakeServer, Peer } from './testing/fake-server.ts'

const capture_id = '00112233445566778899aabbccddeeff'
const agree = () => true

type Start = Parameters<typeof diagStartBody.encode>[0]

function start(peer: Peer, nowMs: number, more: Partial<Start> = {}): void {
  const body = diagStartBody.encode({
    capture_id,
    generation: 1,
    deadline_utc_ms: nowMs + 30_000,
    max_bytes: 65_536,
    filters: [{ kind: 100, direction: 'inbound', entity: null }],
    ...more,
  })
  peer.send(kinds.DIAG_START.first, body)
}

function flush(peer: Peer, attempt: number, max_compressed_bytes = 4_194_304): void {
  const body = diagFlushBody.encode({
    capture_id,
    generation: 1,
    attempt,
    deadline_utc_ms: 1_700_000_100_000,
    max_compressed_bytes,
    path: '/v1/diagnostics/captures/upload',
    token: `lu1.token-${attempt}`,
  })
  peer.send(kinds.DIAG_FLUSH.first, body)
}

async function statusOf(peer: Peer) {
  const { state, attempt, packets } = diagStatusBody.decode(
    (await peer.nextOf(kinds.DIAG_STATUS.first)).body,
  )
  return { state, attempt, packets }
}

async function capabilitiesOf(peer: Peer) {
  return diagCapabilitiesBody.decode((await peer.nextOf(kinds.DIAG_CAPABILITIES.first)).body)
}

/** Takes uploads, with the answers that a test wants. */
function receiveUploads(server: FakeServer, answers: number[]) {
  const uploads: { headers: IncomingMessage['headers']; url: string; body: Buffer }[] = []
  server.onRequest = (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { headers, url = '' } = request
      uploads.push({ headers, url, body: Buffer.concat(parts) })
      response.writeHead(answers.shift() ?? 204).end()
    })
  }
  return uploads
}

async function recorder(consent: LagOptions['consent'] = agree) {
  const bench = await openConnected()
  const recording = recordLag(bench.connection, { consent })
  onTestFinished(() => recording.stop())
  const states = heard<string>((call) => recording.on('state', call))
  expect(await capabilitiesOf(bench.peer)).toEqual({ offer_id: 0n, features: 0 })
  const body = diagServerTimeBody.encode({ offer_id: 9n, server_utc_ms: 1_700_000_000_000 })
  bench.peer.send(kinds.DIAG_SERVER_TIME.first, body)
  expect(await capabilitiesOf(bench.peer)).toEqual({ offer_id: 9n, features: 1 })
  return { ...bench, recording, states }
}

it('[R-SDK-28] [L-LIFE-3] asks, records what the filters want, freezes, and uploads once', async () => {
  const asked: LagRequest[] = []
  const { server, host, peer, recording, states } = await recorder((request) => {
    asked.push(request)
    return true
  })
  const uploads = receiveUploads(server, [])
  start(peer, host.nowMs())
  expect(await statusOf(peer)).toEqual({ state: 'recording', attempt: 0, packets: 0 })
  expect(asked).toEqual([
    { kinds: [{ kind: 100, direction: 'inbound' }], durationMs: 30_000, maxBytes: 65_536 },
  ])
  for (const kind of [100, 101, 100]) peer.send(kind, new Uint8Array(5))
  await settle()
  host.advance(5_000)
  expect(await statusOf(peer)).toEqual({ state: 'recording', attempt: 0, packets: 2 })
  flush(peer, 1)
  expect(await statusOf(peer)).toEqual({ state: 'upload_started', attempt: 1, packets: 2 })
  expect(await statusOf(peer)).toMatchObject({ state: 'uploaded', attempt: 1 })
  expect(uploads).toHaveLength(1)
  expect(uploads[0]).toMatchObject({
    url: '/v1/diagnostics/captures/upload',
    headers: {
      authorization: 'Bearer lu1.token-1',
      'content-type': 'application/vnd.guildhall.lag-capture',
      'content-encoding': 'gzip',
    },
  })
  const artifact = gunzipSync(uploads[0]?.body ?? '')
  expect(artifact).toHaveLength(128 + 2 * 48)
  expect(decodeLagHeader(artifact)).toMatchObject({
    record_count: 2,
    capture_id,
    generation: 1,
  })
  expect(states).toEqual(['asking', 'recording', 'frozen', 'uploading', 'uploaded'])
  expect(recording.state).toBe('uploaded')
})

it.each([
  ['false', () => false],
  ['a rejection', () => Promise.reject(new Error('no'))],
  [
    'an error',
    () => {
      throw new Error('no')
    },
  ],
])('[R-SDK-28] consent of %s declines, and nothing is recorded', async (_what, consent) => {
  const { host, peer, recording, states } = await recorder(consent)
  start(peer, host.nowMs())
  expect(await statusOf(peer)).toEqual({ state: 'failed', attempt: 0, packets: 0 })
  expect(recording.state).toBe('idle')
  expect(states).toEqual(['asking', 'idle'])
})

it('[L-LIFE-3] entity selectors are refused without asking', async () => {
  const consent = vi.fn(agree)
  const { host, peer } = await recorder(consent)
  start(peer, host.nowMs(), { filters: [{ kind: 100, direction: 'inbound', entity: 7n }] })
  expect(await statusOf(peer)).toMatchObject({ state: 'failed' })
  expect(consent).not.toHaveBeenCalled()
})

it('[L-LIFE-3] stops at the deadline; what comes later is not in the upload', async () => {
  const { server, host, peer, states } = await recorder()
  const uploads = receiveUploads(server, [])
  start(peer, host.nowMs())
  await statusOf(peer)
  peer.send(100, new Uint8Array(1))
  await settle()
  host.advance(30_000)
  expect(states).toEqual(['asking', 'recording', 'frozen'])
  peer.send(100, new Uint8Array(1))
  await settle()
  flush(peer, 1)
  await vi.waitFor(() => expect(uploads).toHaveLength(1))
  expect(decodeLagHeader(gunzipSync(uploads[0]?.body ?? '')).record_count).toBe(1)
})

it('[L-FLUSH-1] a refused upload may be asked for again', async () => {
  const { server, host, peer, recording, states } = await recorder()
  const uploads = receiveUploads(server, [404])
  start(peer, host.nowMs())
  await statusOf(peer)
  flush(peer, 1)
  await vi.waitFor(() => expect(recording.state).toBe('frozen'))
  flush(peer, 2)
  await vi.waitFor(() => expect(recording.state).toBe('uploaded'))
  expect(uploads.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer lu1.token-1',
    'Bearer lu1.token-2',
  ])
  expect(states.slice(2)).toEqual(['frozen', 'uploading', 'frozen', 'uploading', 'uploaded'])
})

it('[R-SDK-28] a start without memory for its ring fails, and the next one is asked about', async () => {
  const mib = 2 ** 20
  const small = new Proxy(Uint8Array, {
    construct(target, args) {
      if (args[0] > 60 * mib) throw new RangeError('Array buffer allocation failed')
      return Reflect.construct(target, args)
    },
  })
  const { host, peer, states } = await recorder(() => {
    vi.stubGlobal('Uint8Array', small)
    return true
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  start(peer, host.nowMs(), { max_bytes: 64 * mib })
  expect(await statusOf(peer)).toEqual({ state: 'failed', attempt: 0, packets: 0 })
  start(peer, host.nowMs())
  expect(await statusOf(peer)).toMatchObject({ state: 'recording' })
  expect(states).toEqual(['asking', 'idle', 'asking', 'recording'])
})

it('[R-SDK-28] a recording that cannot be packed may be asked for again', async () => {
  const { server, host, peer, recording, states } = await recorder()
  const uploads = receiveUploads(server, [])
  start(peer, host.nowMs())
  await statusOf(peer)
  vi.stubGlobal('CompressionStream', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  flush(peer, 1)
  await vi.waitFor(() => expect(states.slice(2)).toEqual(['frozen', 'uploading', 'frozen']))
  expect(uploads).toEqual([])
  vi.unstubAllGlobals()
  flush(peer, 2)
  await vi.waitFor(() => expect(recording.state).toBe('uploaded'))
})

/** Takes the head of each upload and answers none. */
function neverAnswer(server: FakeServer) {
  const tokens: (string | undefined)[] = []
  server.onRequest = (request) => {
    tokens.push(request.headers.authorization)
    request.resume()
  }
  return tokens
}

it('[L-FLUSH-1] an upload without an answer ends, and a flush that came meanwhile is next', async () => {
  const { server, host, peer, recording, states } = await recorder()
  const tokens = neverAnswer(server)
  start(peer, host.nowMs())
  await statusOf(peer)
  flush(peer, 1)
  await vi.waitFor(() => expect(tokens).toHaveLength(1))
  flush(peer, 2)
  await settle()
  expect(tokens).toHaveLength(1)
  const uploads = receiveUploads(server, [])
  host.advance(40_000)
  await vi.waitFor(() => expect(recording.state).toBe('uploaded'))
  expect(uploads.map(({ headers }) => headers.authorization)).toEqual(['Bearer lu1.token-2'])
  expect(states.slice(2)).toEqual(['frozen', 'uploading', 'uploaded'])
})

it('[L-LIFE-4] stop ends an upload that is on its way', async () => {
  const { server, host, peer, recording } = await recorder()
  const tokens = neverAnswer(server)
  const sent = vi.spyOn(host, 'fetch')
  start(peer, host.nowMs())
  await statusOf(peer)
  flush(peer, 1)
  await vi.waitFor(() => expect(tokens).toHaveLength(1))
  recording.stop()
  await expect(sent.mock.results[0]?.value).rejects.toThrow('aborted')
  expect(recording.state).toBe('stopped')
})

it('[L-LIFE-1] an upload outlives its connection', async () => {
  const { server, host, peer, recording } = await recorder()
  let answer = () => {}
  server.onRequest = (request, response) => {
    request.resume()
    answer = () => void response.writeHead(204).end()
  }
  const sent = vi.spyOn(host, 'fetch')
  start(peer, host.nowMs())
  await statusOf(peer)
  flush(peer, 1)
  await vi.waitFor(() => expect(sent).toHaveBeenCalled())
  await settle()
  peer.cut()
  await vi.waitFor(() => expect(recording.state).toBe('idle'))
  answer()
  expect(await sent.mock.results[0]?.value).toMatchObject({ status: 204 })
})

it('[L-LIFE-3] what passes max_compressed loses its oldest records, and says so', async () => {
  const { server, host, peer } = await recorder()
  const uploads = receiveUploads(server, [])
  start(peer, host.nowMs())
  await statusOf(peer)
  for (let sent = 0; sent < 400; sent += 1) peer.send(100, new Uint8Array((sent * 37) % 251))
  await settle()
  flush(peer, 1, 512)
  await vi.waitFor(() => expect(uploads).toHaveLength(1))
  const body = uploads[0]?.body ?? Buffer.alloc(0)
  expect(body.length).toBeLessThanOrEqual(512)
  const header = decodeLagHeader(gunzipSync(body))
  expect(header).toMatchObject({ accepted: 400, overwritten: 400 - header.record_count })
  expect(header.flags & 2).toBe(2)
})

it('[L-LIFE-4] stop withdraws: the mark is taken away, and a flush brings nothing', async () => {
  const { server, host, peer, recording } = await recorder()
  const uploads = receiveUploads(server, [])
  start(peer, host.nowMs())
  await statusOf(peer)
  recording.stop()
  expect(await capabilitiesOf(peer)).toEqual({ offer_id: 9n, features: 0 })
  flush(peer, 1)
  await settle()
  expect([recording.state, uploads]).toEqual(['stopped', []])
})

it('[L-LIFE-4] stop while the player is still being asked withdraws, whatever the answer is', async () => {
  let answer: (agrees: boolean) => void = () => {}
  const asking = new Promise<boolean>((resolve) => {
    answer = resolve
  })
  const { host, peer, recording, states } = await recorder(() => asking)
  start(peer, host.nowMs())
  await vi.waitFor(() => expect(recording.state).toBe('asking'))
  recording.stop()
  answer(true)
  await settle()
  expect(states).toEqual(['asking', 'stopped'])
})

it('[L-LIFE-3] a player who does not answer in 10 s has declined, also with a late yes', async () => {
  let answer: (agrees: boolean) => void = () => {}
  const asking = new Promise<boolean>((resolve) => {
    answer = resolve
  })
  const { host, peer, recording, states } = await recorder(() => asking)
  start(peer, host.nowMs())
  await vi.waitFor(() => expect(recording.state).toBe('asking'))
  host.advance(10_000)
  expect(await statusOf(peer)).toMatchObject({ state: 'failed' })
  answer(true)
  await settle()
  expect(states).toEqual(['asking', 'idle'])
})

it('[R-SDK-28] a second start is asked about anew, and the answer to the first counts no more', async () => {
  const answers: ((agrees: boolean) => void)[] = []
  const { host, peer, recording } = await recorder(
    () => new Promise((resolve) => void answers.push(resolve)),
  )
  start(peer, host.nowMs())
  await vi.waitFor(() => expect(answers).toHaveLength(1))
  start(peer, host.nowMs(), { capture_id: 'f'.repeat(32) })
  await vi.waitFor(() => expect(answers).toHaveLength(2))
  answers[0]?.(true)
  await settle()
  expect(recording.state).toBe('asking')
  answers[1]?.(true)
  await vi.waitFor(() => expect(recording.state).toBe('recording'))
  flush(peer, 1)
  await settle()
  expect(recording.state).toBe('recording')
})

it('[L-LIFE-3] a connection that is lost ends the recording, and the next one offers anew', async () => {
  const { server, host, peer, recording } = await recorder()
  start(peer, host.nowMs())
  await statusOf(peer)
  peer.cut()
  await vi.waitFor(() => expect(recording.state).toBe('idle'))
  host.advance(10_000)
  const next = await server.connection()
  expect(await capabilitiesOf(next)).toEqual({ offer_id: 0n, features: 0 })
})

it('[R-SDK-28] what is no connection is refused', () => {
  expect(() => recordLag({} as never, { consent: agree })).toThrow(
    expect.objectContaining({ code: 'invalid_argument' }),
  )
})
