import { GuildhallError } from '../../error.ts'
import type { WebTransportConstructor, WebTransportSession } from '../../host.ts'
import type { Link, LinkEvents, OpenLink, Target } from './transport.ts'

/**
 * Links over WebTransport: one bidirectional stream carries the client's frames, the server's come
 * on a stream that it opens, and datagrams are datagrams.
 */
export function webTransport(Session: WebTransportConstructor | undefined): OpenLink {
  return (target, events) => {
    if (Session === undefined) throw new GuildhallError('network_error', 'there is no WebTransport')
    return new WebTransportLink(openSession(Session, target), events)
  }
}

function openSession(
  Session: WebTransportConstructor,
  { url, certificateSha256 }: Target,
): WebTransportSession {
  if (certificateSha256 === undefined) return new Session(url)
  const value = Uint8Array.from(atob(certificateSha256), (character) => character.charCodeAt(0))
  return new Session(url, { serverCertificateHashes: [{ algorithm: 'sha-256', value }] })
}

class WebTransportLink implements Link {
  readonly #session: WebTransportSession
  readonly #events: LinkEvents
  #stream: WritableStreamDefaultWriter<Uint8Array> | undefined
  #datagrams: WritableStreamDefaultWriter<Uint8Array> | undefined
  #bufferedBytes = 0
  #hasEnded = false

  constructor(session: WebTransportSession, events: LinkEvents) {
    this.#session = session
    this.#events = events
    const lost = () => this.#end(null, '')
    session.closed.then(({ closeCode, reason }) => this.#end(closeCode ?? null, reason ?? ''), lost)
    this.#open().catch(lost)
  }

  send(bytes: Uint8Array): void {
    this.#bufferedBytes += bytes.length
    const sent = () => {
      this.#bufferedBytes -= bytes.length
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

  close(code: number, reason: string): void {
    // 0 is what WebTransport says for an ordinary end.
    this.#session.close({ closeCode: code === 1000 ? 0 : code, reason })
  }

  async #open(): Promise<void> {
    await this.#session.ready
    const { writable } = await this.#session.createBidirectionalStream()
    this.#stream = writable.getWriter()
    this.#datagrams = writableOf(this.#session).getWriter()
    if (this.#hasEnded) return
    this.#events.opened()
    const { incomingUnidirectionalStreams, datagrams } = this.#session
    const received = (bytes: Uint8Array) => this.#events.received(bytes)
    await Promise.all([
      readAll(incomingUnidirectionalStreams, (stream) => void readAll(stream, received)),
      readAll(datagrams.readable, (bytes) => this.#events.receivedDatagram(bytes)),
    ])
  }

  #end(code: number | null, reason: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#events.ended({ code: code === 0 ? 1000 : code, reason })
  }
}

function writableOf({ datagrams }: WebTransportSession): WritableStream<Uint8Array> {
  const writable = datagrams.writable ?? datagrams.createWritable?.()
  if (writable === undefined) throw new GuildhallError('network_error', 'there are no datagrams')
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
    reader.releaseLock()
  }
}
