import { randomBytes } from 'node:crypto'
import {
  diagCapabilitiesBody,
  diagClockSyncBody,
  diagFeatures,
  diagServerTimeBody,
  kinds,
  sessionOptionsBody,
} from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { createGatewayMetrics } from '../../metrics.ts'
import { nowhere } from '../../play.port.ts'
import {
  type RealtimeFixture,
  startRealtime,
  type TestClient,
  waiting,
} from '../../realtime.fixture.ts'
import { newClientState } from '../live/client-state.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import { createServerTime } from './server-time.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const [offers, capabilities, clockSync, status] = [34, 35, 36, 39]

async function nextOffer(client: TestClient) {
  const { kind, body } = await client.next()
  expect(kind).toBe(offers)
  return diagServerTimeBody.decode(body)
}

test('[R-DIA-2] the time is offered when bit 1 is set, to accounts and guests', async () => {
  realtime = await startRealtime()
  const client = await realtime.join()
  const options = (flags: number) =>
    client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags }))
  for (const flags of [2, 2, 0, 2]) options(flags)
  await client.next()
  const first = await nextOffer(client)
  expect(first.server_utc_ms).toBe(realtime.clock.nowUnixMs())
  expect(first.offer_id).not.toBe(0n)
  for (let count = 0; count < 3; count += 1) expect((await client.next()).kind).toBe(45)
  expect((await nextOffer(client)).offer_id).not.toBe(first.offer_id)
})

test('[R-DIA-2, R-HS-6] with "always" an offer follows AUTH_RESULT directly', async () => {
  realtime = await startRealtime({ serverTimeOffer: 'always' })
  const client = await realtime.connect()
  client.send(kinds.AUTH.first)
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 0 }))
  const kindsOf = [await client.next(), await client.next(), await client.next()]
  expect(kindsOf.map(({ kind }) => kind)).toEqual([6, 34, 45])
})

test('[R-DIA-1, R-DIA-2] capabilities with offer 0 ask for the time; others need the offer', async () => {
  realtime = await startRealtime()
  const client = await realtime.join('t-ann')
  client.send(capabilities, diagCapabilitiesBody.encode({ offer_id: 0n, features: 0 }))
  const { offer_id } = await nextOffer(client)
  client.send(capabilities, diagCapabilitiesBody.encode({ offer_id, features: 1 }))
  const bad = [
    diagCapabilitiesBody.encode({ offer_id: offer_id ^ 1n, features: 1 }),
    diagCapabilitiesBody.encode({ offer_id: offer_id ^ 1n, features: 0 }),
    diagCapabilitiesBody.encode({ offer_id, features: 3 }),
    new Uint8Array(0),
    new Uint8Array(12),
  ]
  for (const body of bad) client.send(capabilities, body)
  client.send(status, new Uint8Array(46))
  await expect.poll(() => realtime.gateway.metrics().decode_errors_total, waiting).toBe(6)
  expect(client.received).toEqual([])
  expect(realtime.script.hooks()).toEqual(['join 1'])
})

test('[R-DIA-3] an account that shows its offer can record, a guest never', () => {
  const offer_id = 7n
  const capabilities = (userId: string | null, shown: bigint) => {
    const client = { ...newClientState(null), offerId: offer_id }
    const live: LiveConnection = {
      participant: 1,
      userId,
      place: nowhere,
      client,
      send() {},
      sendFrame() {},
      end() {},
      setFlags() {},
      observer: undefined,
    }
    const body = diagCapabilitiesBody.encode({ offer_id: shown, features: diagFeatures.recording })
    const clock = createFakeClock()
    const marks: boolean[] = []
    const recording = {
      marked: () => void marks.push(true),
      withdrew: () => void marks.push(false),
      said: () => false,
    }
    const metrics = createGatewayMetrics()
    const deps = { clock, metrics, recording, notices() {}, offersAlways: false }
    const serverTime = createServerTime({ ...deps, randomness: randomBytes })
    serverTime.capabilities(live, { kind: kinds.DIAG_CAPABILITIES.first, body })
    return marks.at(-1) ?? false
  }
  expect(capabilities('u-ann', offer_id)).toBe(true)
  expect(capabilities('u-ann', 8n)).toBe(false)
  expect(capabilities(null, offer_id)).toBe(false)
})

test('[R-DIA-4] clock samples are echoed with the time, at most two per second', async () => {
  realtime = await startRealtime()
  const client = await realtime.join()
  const ask = (seq: number) =>
    client.send(clockSync, diagClockSyncBody.encode({ type: 'request', seq, client_mono_us: 5n }))
  for (const seq of [1, 2, 3]) ask(seq)
  const nowUs = realtime.clock.nowUnixMs() * 1000
  for (const seq of [1, 2]) {
    expect(diagClockSyncBody.decode((await client.next()).body)).toEqual({
      type: 'response',
      seq,
      client_mono_us: 5n,
      server_recv_utc_us: nowUs,
      server_sent_utc_us: nowUs,
    })
  }
  await realtime.clock.advance(1000)
  ask(4)
  expect(diagClockSyncBody.decode((await client.next()).body)).toMatchObject({ seq: 4 })
})
