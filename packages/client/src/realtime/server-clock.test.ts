import { diagClockSyncBody, kinds } from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { openConnected, settle } from '../testing/connected.ts'
import type { Peer } from '../testing/fake-server.ts'

async function nextQuestion(peer: Peer) {
  const { body } = await peer.nextOf(kinds.DIAG_CLOCK_SYNC.first)
  const asked = diagClockSyncBody.decode(body)
  return {
    client_mono_us: asked.client_mono_us,
    answer(recvMs: number, sentMs = recvMs) {
      const response = diagClockSyncBody.encode({
        type: 'response',
        seq: asked.seq,
        client_mono_us: asked.client_mono_us,
        server_recv_utc_us: recvMs * 1000,
        server_sent_utc_us: sentMs * 1000,
      })
      peer.send(kinds.DIAG_CLOCK_SYNC.first, response)
    },
  }
}

it('[R-SDK-21] the sample with the shortest round trip says what time it is', async () => {
  const { connection, peer, host } = await openConnected()
  expect([connection.serverNow(), connection.serverTimeUncertaintyMs]).toEqual([null, null])
  const first = await nextQuestion(peer)
  host.advance(100)
  first.answer(1_000_050)
  await vi.waitFor(() => expect(connection.serverTimeUncertaintyMs).toBe(50))
  expect(connection.serverNow()).toBe(1_000_100)
  host.advance(500)
  const second = await nextQuestion(peer)
  expect(second.client_mono_us).toBe(600_000n)
  host.advance(20)
  // The server took 10 of the 20 ms itself.
  second.answer(1_000_700, 1_000_710)
  await vi.waitFor(() => expect(connection.serverTimeUncertaintyMs).toBe(5))
  expect(connection.serverNow()).toBe(1_000_715)
  host.advance(580)
  const third = await nextQuestion(peer)
  host.advance(80)
  third.answer(5_000_000)
  await settle()
  expect(connection.serverTimeUncertaintyMs).toBe(5)
  expect(connection.serverNow()).toBe(1_000_715 + 660)
})

it('[R-SDK-21] asks three times after each open, then once a minute', async () => {
  const { peer, host, server, connection } = await openConnected()
  const times: bigint[] = []
  const listen = async (at: Peer) => {
    for (;;) times.push((await nextQuestion(at)).client_mono_us / 1000n)
  }
  void listen(peer)
  for (const ms of [600, 600, 59_999, 1, 60_000]) {
    host.advance(ms)
    await settle()
  }
  expect(times).toEqual([0n, 600n, 1_200n, 61_200n, 121_200n])
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  // Past the pause, and not past the bound of the attempt.
  host.advance(500)
  void listen(await server.connection())
  await vi.waitFor(() => expect(times).toHaveLength(6))
})

it('[R-SDK-21] only the last eight samples count', async () => {
  const { connection, peer, host } = await openConnected()
  const best = await nextQuestion(peer)
  best.answer(0)
  await vi.waitFor(() => expect(connection.serverTimeUncertaintyMs).toBe(0))
  for (let sample = 0; sample < 8; sample += 1) {
    host.advance(60_000)
    const question = await nextQuestion(peer)
    host.advance(40)
    question.answer(0)
    await settle()
  }
  expect(connection.serverTimeUncertaintyMs).toBeGreaterThan(0)
})
