import { setTimeout as sleep } from 'node:timers/promises'
import {
  authBody,
  authResultBody,
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  frameHeaderBytes,
  kinds,
} from '@guildhall/contract'
import type { Child } from '../processes/child.ts'
import { QuicLoadClient } from './quic-client.ts'
import { clientMessage, type WebSocketClient } from './websocket-client.ts'
import { sessionStreams, streamPreface, WebTransportLoadClient } from './webtransport-client.ts'
import { startWindow, type Window } from './window.ts'

/** A connection that sends a message and hears when it has come back. */
export type EchoPeer = {
  send(): void
  onEcho: () => void
  onClose: () => void
  close(): void
}

export type EchoOutcome = Window & { perSecond: number; perCpuSecond: number; lost: number }

export const echoBytes = 64

const kind = 100
const frame = encodeFrame(kind, Buffer.alloc(echoBytes, 'x'))
const envelope = frame.subarray(frameHeaderBytes - 2)
const warmUpShare = 0.3
/** A message that was not heard of for so long is lost. */
const lostAfterMs = 250

export function webSocketPeer(client: WebSocketClient): EchoPeer {
  const message = clientMessage(frame)
  const peer: EchoPeer = {
    send: () => client.write(message),
    onEcho() {},
    onClose() {},
    close: () => client.close(),
  }
  client.onClose = () => peer.onClose()
  countEchoes(client, peer)
  return peer
}

/** A guest over QUIC who sends on the stream, or by datagrams. */
export async function quicPeer(port: number, by: 'stream' | 'datagrams'): Promise<EchoPeer> {
  const client = await openQuicGuest(port)
  const peer: EchoPeer = {
    send: () => (by === 'stream' ? client.write(frame) : client.datagram(envelope)),
    onEcho() {},
    onClose() {},
    close: () => client.close(),
  }
  client.onClose = () => peer.onClose()
  client.onDatagram = () => peer.onEcho()
  countEchoes(client, peer)
  return peer
}

/** Connects without an account; resolves once the node has let it in. */
export async function openQuicGuest(port: number): Promise<QuicLoadClient> {
  const client = await QuicLoadClient.open(port)
  await enter(client, { write: (frames) => client.write(frames), stream: 3, prefaceBytes: 0 })
  return client
}

/** The same by WebTransport. */
export async function openWebTransportGuest(port: number): Promise<WebTransportLoadClient> {
  const client = await WebTransportLoadClient.open(port)
  await enter(client.connection, {
    write: (frames) => client.write(frames),
    stream: sessionStreams.node,
    prefaceBytes: streamPreface.length,
  })
  return client
}

type Lane = { write(frames: Uint8Array): void; stream: number; prefaceBytes: number }

async function enter(client: QuicLoadClient, { write, stream, prefaceBytes }: Lane): Promise<void> {
  const decoder = new FrameDecoder(envelopeBytesMax)
  let skipped = 0
  const accepted = new Promise<void>((resolve, reject) => {
    client.onClose = () => reject(new Error('the server closed a QUIC connection'))
    client.onPayload = (piece, of) => {
      if (of !== stream) return
      const frames = piece.subarray(prefaceBytes - skipped)
      skipped += piece.length - frames.length
      decoder.push(frames)
      for (let next = decoder.next(); next; next = decoder.next()) {
        if (next.kind !== kinds.AUTH_RESULT.first) continue
        const { status } = authResultBody.decode(next.body)
        if (status === 'guest') resolve()
        else reject(new Error(`the handshake ended as ${status}`))
      }
    }
  })
  write(encodeFrame(kinds.AUTH.first, authBody.encode({ access_token: '' })))
  await accepted
  client.onClose = () => {}
  client.onPayload = () => {}
}

function countEchoes(client: Pick<QuicLoadClient, 'onPayload'>, peer: EchoPeer): void {
  let received = 0
  client.onPayload = (piece) => {
    received += piece.length
    for (; received >= frame.length; received -= frame.length) peer.onEcho()
  }
}

/** Keeps so many messages in flight on every connection. */
export async function runEchoes(
  { server, peers }: { server: Child; peers: readonly EchoPeer[] },
  { inFlight, seconds }: { inFlight: number; seconds: number },
): Promise<EchoOutcome> {
  let echoes = 0
  let lost = 0
  let isOver = false
  let failure: Error | undefined
  const heardAtMs = new Map<EchoPeer, number>()
  for (const peer of peers) {
    peer.onClose = () => {
      failure ??= new Error('the server closed a connection under load')
    }
    peer.onEcho = () => {
      echoes += 1
      heardAtMs.set(peer, performance.now())
      if (!isOver) peer.send()
    }
    for (let sent = 0; sent < inFlight; sent += 1) peer.send()
  }
  const watch = setInterval(() => {
    const nowMs = performance.now()
    for (const peer of peers) {
      if (nowMs - (heardAtMs.get(peer) ?? nowMs) < lostAfterMs) continue
      heardAtMs.set(peer, nowMs)
      lost += inFlight
      for (let sent = 0; sent < inFlight; sent += 1) peer.send()
    }
  }, lostAfterMs)
  await sleep(seconds * warmUpShare * 1000)
  const before = echoes
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window = end()
  const counted = echoes - before
  isOver = true
  clearInterval(watch)
  await sleep(drainMs)
  for (const peer of peers) peer.onClose = () => {}
  if (failure !== undefined) throw failure
  return {
    ...window,
    lost,
    perSecond: counted / window.seconds,
    perCpuSecond: (counted * 1000) / window.cpuMs,
  }
}

/** What is on the way arrives before the connections are used again. */
const drainMs = 100
