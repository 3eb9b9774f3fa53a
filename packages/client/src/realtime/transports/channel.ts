import {
  decodeDatagram,
  type Envelope,
  encodeDatagram,
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  WireError,
} from '@guildhall/contract/wire'
import type { EnvelopeTap } from '../recording-port.ts'
import type { Link, LinkEnd, OpenLink, Target } from './transport.ts'

/** One link with its frames taken apart. Its owner sets the functions and may change them. */
export class Channel {
  readonly target: Target
  onOpen: () => void = () => {}
  onEnvelope: (envelope: Envelope) => void = () => {}
  /** Bytes have arrived, whatever they are. */
  onArrival: () => void = () => {}
  /** Hears of every envelope, where one records their timing. */
  tap: EnvelopeTap | undefined
  /** Called once. */
  onEnd: (end: LinkEnd) => void = () => {}
  readonly #decoder = new FrameDecoder(envelopeBytesMax)
  readonly #link: Link
  #hasEnded = false

  constructor(open: OpenLink, target: Target) {
    this.target = target
    this.#link = open(target, {
      opened: () => this.onOpen(),
      received: (bytes) => this.#decode(bytes),
      receivedDatagram: (bytes) => {
        this.onArrival()
        if (bytes.length >= 2) this.#take(decodeDatagram(bytes), true)
      },
      ended: (end) => this.#end(end),
    })
  }

  /** Bytes that have been sent and not left this device. */
  get bufferedBytes(): number {
    return this.#link.bufferedBytes()
  }

  send(kind: number, body: Uint8Array): void {
    this.tap?.(kind, true, false, body.length)
    this.#link.send(encodeFrame(kind, body))
  }

  /** Bytes of one or more frames. */
  sendFrames(frames: Uint8Array): void {
    this.#link.send(frames)
  }

  /** As a datagram where there are datagrams and it fits, else reliably. */
  sendUnreliable(kind: number, body: Uint8Array): void {
    if (!this.#link.sendDatagram(encodeDatagram(kind, body))) this.send(kind, body)
    else this.tap?.(kind, true, true, body.length)
  }

  /** Closes the link; `onEnd` follows when it is gone. */
  close(code: number, reason: string): void {
    this.#link.close(code, reason)
  }

  /** Closes the link and forgets it: nothing is heard of it any more. */
  drop(code = 1000, reason = ''): void {
    this.#hasEnded = true
    this.#link.close(code, reason)
  }

  #decode(bytes: Uint8Array): void {
    this.onArrival()
    this.#decoder.push(bytes)
    for (let next = this.#next(); next; next = this.#next()) this.#take(next, false)
  }

  #take(envelope: Envelope, datagram: boolean): void {
    this.tap?.(envelope.kind, false, datagram, envelope.body.length)
    if (!this.#hasEnded) this.onEnvelope(envelope)
  }

  /** A framing error ends the connection. */
  #next(): Envelope | undefined {
    try {
      return this.#hasEnded ? undefined : this.#decoder.next()
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      const end = { code: 4003, reason: 'protocol error: frame length' }
      this.#link.close(end.code, end.reason)
      this.#end(end)
      return undefined
    }
  }

  #end(end: LinkEnd): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.onEnd(end)
  }
}
