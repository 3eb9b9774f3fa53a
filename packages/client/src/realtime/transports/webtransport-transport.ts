import { GuildhallError } from '../../error.ts'
import type { Host, WebTransportConstructor, WebTransportSession } from '../../host.ts'
import type { Link, LinkEvents, OpenLink, Target } from './transport.ts'

/**
 * Links over WebTransport: one bidirectional stream carries the client's frames, the server's come
 * on a stream that it opens, and datagrams are datagrams.
 */
export function webTransport(host: LinkHost, stalled: () => void): OpenLink {
  return (target, events) =>
    new WebTransportLink(openSession(host.WebTransport, target), { host, events, stalled })
}

/** The runtime has none, or one without datagrams, or the node does not offer it. */
export function noWebTransport(): GuildhallError {
  return new GuildhallError('network_error', 'no WebTransport here')
}

type LinkHost = Pick<Host, 'WebTransport' | 'startTimer' | 'onLeave'>
type LinkParts = { host: LinkHost; events: LinkEvents; stalled: () => void }

/** In some browsers flow control never refills: nothing leaves, and nothing says so. */
const stallMs = 5_000
/** No code that is meant, so that the node keeps the seat. */
const lostCode = 1001

function openSession(
  Session: WebTransportConstructor | undefined,
  { url, certificateSha256 }: Target,
): WebTransportSession {
  try {
    if (Session === undefined) throw noWebTransport()
    if (certificateSha256 === undefined) return new Session(url)
    const value = Uint8Array.from(atob(certificateSha256), (character) => character.charCodeAt(0))
    return new Session(url, { serverCertificateHashes: [{ algorithm: 'sha-256', value }] })
  } catch {
    // Browsers refuse here what they do not know, such as hashes of certificates.
    throw noWebTransport()
  }
}

class WebTransportLink implements Link {
  readonly #session: WebTransportSession
  readonly #parts: LinkParts
  readonly #stopLeaving: () => void
  #stopStallTimer: (() => void) | undefined
  #stream: WritableStreamDefaultWriter<Uint8Array> | undefined
  #datagrams: WritableStreamDefaultWriter<Uint8Array> | undefined
  #bufferedBytes = 0
  #hasEnded = false

  constructor(session: WebTransportSession, parts: LinkParts) {
    this.#session = session
    this.#parts = parts
    // By itself a browser says that the session was ended on purpose.
    this.#stopLeaving = parts.host.onLeave(() => this.close(lostCode))
    const lost = () => this.#end(null)
    session.closed.then(({ closeCode = null, reason = '' }) => this.#end(closeCode, reason), lost)
    this.#open().catch(lost)
  }

  send(bytes: Uint8Array): void {
    this.#bufferedBytes += bytes.length
    this.#watch()
    const sent = () => {
      this.#bufferedBytes -= bytes.length
      this.#stopWatching()
      if (this.#bufferedBytes > 0) this.#watch()
    }
    this.#stream?.write(bytes).then(sent, sent)
  }

  sendDatagram(bytes: Uint8Array): boolean {
    if (bytes.length > this.#session.datagrams.maxDatagramSize) return false
    this.#datagrams?.write(bytes).catch(() => {})
    return true
  }

  bufferedBytes(): number {
    return this.#bufferedBytes
  }

  close(code: number, reason = ''): void {
    this.#stopWatching()
    // 0 is what WebTransport says for an ordinary end.
    this.#session.close({ closeCode: code === 1000 ? 0 : code, reason })
  }

  async #open(): Promise<void> {
    await this.#session.ready
    const { writable } = await this.#session.createBidirectionalStream()
    this.#stream = writable.getWriter()
    this.#datagrams = writableOf(this.#session).getWriter()
    if (this.#hasEnded) return
    this.#parts.events.opened()
    const { incomingUnidirectionalStreams, datagrams } = this.#session
    const received = (bytes: Uint8Array) => this.#parts.events.received(bytes)
    await Promise.all([
      readAll(incomingUnidirectionalStreams, (stream) => void readAll(stream, received)),
      readAll(datagrams.readable, (bytes) => this.#parts.events.receivedDatagram(bytes)),
    ])
  }

  /** Of the bytes that wait some have to leave in time. */
  #watch(): void {
    if (this.#hasEnded) return
    this.#stopStallTimer ??= this.#parts.host.startTimer(stallMs, () => {
      this.#parts.stalled()
      this.close(lostCode)
      this.#end(null)
    })
  }

  #stopWatching(): void {
    this.#stopStallTimer?.()
    this.#stopStallTimer = undefined
  }

  #end(code: number | null, reason = ''): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#stopLeaving()
    this.#stopWatching()
    this.#parts.events.ended({ code: code === 0 ? 1000 : code, reason })
  }
}

function writableOf({ datagrams }: WebTransportSession): WritableStream<Uint8Array> {
  const writable = datagrams.writable ?? datagrams.createWritable?.()
  if (writable === undefined) throw noWebTransport()
  return writable
}

/** Ends quietly with the stream: the end of the session is heard elsewhere. */
async function readAll<T>(stream: ReadableStream<T>, take: (value: T) => void): Promise<void> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      take(value)
    }
  } catch {
    // Nothing reads it any more.
  }
}
