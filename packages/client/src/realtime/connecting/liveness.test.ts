import { diagClockSyncBody, kinds } from '@guildhall/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { runtimeHost } from '../../host.ts'
import { heard, openBench, openConnected, settle } from '../../testing/connected.ts'
import type { Peer } from '../../testing/fake-server.ts'
import type { ConnectOptions, StateEvent } from '../connection-types.ts'

/** Connected; the three samples of the time are behind it, and a byte has just arrived. */
async function openQuiet(connect?: ConnectOptions) {
  const bench = await openBench()
  const connecting = bench.player.connect(connect)
  const peer = await bench.server.connection()
  const connection = await connecting
  onTestFinished(() => connection.close())
  const questions: number[] = []
  void (async () => {
    for (;;) questions.push(diagClockSyncBody.decode((await nextQuestion(peer)).body).seq)
  })()
  bench.host.advance(1_200)
  peer.send(100, new Uint8Array())
  await vi.waitFor(() => expect(questions).toHaveLength(3))
  await settle()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  return { ...bench, connection, peer, questions, states }
}

function nextQuestion(peer: Peer) {
  return peer.nextOf(kinds.DIAG_CLOCK_SYNC.first)
}

it('[R-SDK-25] a link that is silent for 10 s is asked, and lost 5 s later', async () => {
  const { connection, host, peer, questions, states } = await openQuiet()
  host.advance(9_999)
  await settle()
  expect(questions).toHaveLength(3)
  host.advance(1)
  await vi.waitFor(() => expect(questions).toHaveLength(4))
  host.advance(4_999)
  expect(connection.state).toBe('open')
  host.advance(1)
  expect(states).toEqual([{ state: 'reconnecting', closeCode: 1006, attempt: 0, delayMs: 250 }])
  // The seat is kept, should the server still hear it.
  expect(await peer.closed).toBe(3999)
})

it('[R-SDK-25] whatever arrives is a sign of life, also at the last moment', async () => {
  const { connection, host, peer, questions } = await openQuiet()
  host.advance(14_999)
  await vi.waitFor(() => expect(questions).toHaveLength(5))
  // Half a frame, too.
  peer.sendRaw(new Uint8Array([0, 0]))
  await settle()
  host.advance(9_999)
  await settle()
  expect([connection.state, questions.length]).toEqual(['open', 5])
  host.advance(1)
  await vi.waitFor(() => expect(questions).toHaveLength(6))
})

it('[R-SDK-25] a busy link is not asked', async () => {
  const { host, peer, questions } = await openQuiet()
  const message = () => new Promise((resolve) => setTimeout(resolve, 10))
  for (let second = 0; second < 30; second += 1) {
    host.advance(1_000)
    peer.send(100, new Uint8Array())
    await message()
  }
  expect(questions).toHaveLength(3)
})

it('[R-SDK-25] a wake-up asks at once, and once', async () => {
  const { connection, host, questions } = await openQuiet({ idleMs: 0 })
  host.wake()
  host.wake()
  await vi.waitFor(() => expect(questions).toHaveLength(4))
  await settle()
  expect(questions).toHaveLength(4)
  host.advance(5_000)
  expect(connection.state).toBe('reconnecting')
})

it('[R-SDK-25] idleMs is how long a link may be silent', async () => {
  const { connection, host, questions } = await openQuiet({ idleMs: 3_000 })
  host.advance(3_000)
  await vi.waitFor(() => expect(questions).toHaveLength(4))
  host.advance(5_000)
  expect(connection.state).toBe('reconnecting')
})

it('[R-SDK-25] the next link is watched as the first one', async () => {
  const { connection, host, server, states } = await openQuiet()
  for (let round = 1; round <= 3; round += 1) {
    host.advance(15_000)
    await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ state: 'reconnecting' }))
    host.advance(250)
    await server.connection()
    await vi.waitFor(() => expect(connection.state).toBe('open'))
  }
  await connection.close()
  expect(host.timersWaiting()).toBe(0)
})

it('[R-SDK-25] online, pageshow and becoming visible wake, and becoming hidden does not', () => {
  const page = new EventTarget()
  const document = { visibilityState: 'hidden' }
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('document', document)
  onTestFinished(() => void vi.unstubAllGlobals())
  let wakes = 0
  const off = runtimeHost().onWake(() => {
    wakes += 1
  })
  const happen = () => {
    page.dispatchEvent(new Event('online'))
    page.dispatchEvent(new Event('pageshow'))
    // It is the document's, and bubbles.
    page.dispatchEvent(new Event('visibilitychange'))
  }
  happen()
  expect(wakes).toBe(2)
  document.visibilityState = 'visible'
  happen()
  expect(wakes).toBe(5)
  off()
  happen()
  expect(wakes).toBe(5)
})

it('[R-SDK-25] reconnect makes a new link at once and resolves at open', async () => {
  const { connection, peer, server } = await openConnected()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  const reopened = Promise.all([connection.reconnect(), connection.reconnect()])
  expect(connection.state).toBe('reconnecting')
  expect(await peer.closed).toBe(3999)
  // No clock was moved: it waits for no pause.
  await server.connection()
  await reopened
  expect(states).toMatchObject([{ state: 'reconnecting', closeCode: 1006 }, { state: 'open' }])
  expect(server.count()).toBe(2)
})

it('[R-SDK-25] reconnect starts the attempt that waits', async () => {
  const { connection, peer, server } = await openConnected()
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  const reopened = connection.reconnect()
  await server.connection()
  await reopened
  expect([connection.state, server.count()]).toEqual(['open', 2])
})

it('[R-SDK-25] reconnect rejects with the reason of closed', async () => {
  const { connection, server } = await openConnected()
  server.greet = (peer) => peer.close(4004, 'session revoked')
  const revoked = {
    code: 'closed',
    message: 'the connection is closed: session_revoked',
    closeCode: 4004,
  }
  await expect(connection.reconnect()).rejects.toMatchObject(revoked)
  await expect(connection.reconnect()).rejects.toMatchObject(revoked)
  const other = await openConnected()
  const reopening = expect(other.connection.reconnect()).rejects.toMatchObject({
    message: 'the connection is closed: closed_by_client',
  })
  await other.connection.close()
  await reopening
})
