import { applicationKindMin, kinds, positionBytesMax } from '@guildhall/contract/wire'
import { invalidArgument } from '../../error.ts'
import type { SendOptions } from '../call-options.ts'
import type { Machine } from '../connecting/machine.ts'
import type { Stats } from '../connection-types.ts'
import { closedError } from './calls.ts'
import { encodePayload } from './payload.ts'
import { queueFull, type WaitingQueue } from './waiting-queue.ts'

/** Most bytes that may wait in the transport before `send` refuses. */
const transportBytesMax = 1024 * 1024
/** Of the bound of an envelope the kind takes two bytes. */
const kindBytes = 2

export type SenderDeps = {
  machine: Machine
  waiting: WaitingQueue
  stats: Stats
  /** The largest envelope that the node takes. */
  maxBytes(): number
}

/** Envelopes on their way out, within the bounds of node, queue and transport. */
export function createSender({ machine, waiting, stats, maxBytes }: SenderDeps) {
  function checkSize(body: Uint8Array): void {
    if (body.length + kindBytes > maxBytes()) {
      throw invalidArgument(`the node takes at most ${maxBytes()} bytes in an envelope`)
    }
  }

  function openChannel() {
    const { channel } = machine
    if (channel === undefined) throw queueFull()
    if (!waiting.isClear() || channel.bufferedBytes >= transportBytesMax) throw queueFull()
    return channel
  }

  function write(kind: number, body: Uint8Array): void {
    openChannel().send(kind, body)
  }

  function send(kind: number, payload: unknown, { unreliable = false }: SendOptions = {}): void {
    const body = checkedBody(kind, payload)
    checkSize(body)
    if (machine.state === 'closed') throw closedError()
    if (machine.channel !== undefined) {
      const channel = openChannel()
      if (unreliable) channel.sendUnreliable(kind, body)
      else channel.send(kind, body)
    } else if (unreliable) {
      stats.unreliableDropped += 1
    } else {
      keep(kind, body.slice())
    }
  }

  function keep(kind: number, body: Uint8Array): void {
    waiting.push({
      isCall: false,
      bytes: body.length,
      go() {
        if (machine.channel === undefined) return false
        write(kind, body)
        return true
      },
    })
  }

  return { send, write, checkSize }
}

function checkedBody(kind: number, payload: unknown): Uint8Array {
  const isPosition = kind === kinds.POSITION.first
  const { last } = kinds.APPLICATION
  const isOfGame = Number.isInteger(kind) && kind >= applicationKindMin && kind <= last
  if (!isPosition && !isOfGame) throw invalidArgument('a game sends kind 1 and 100 to 65535')
  const body = encodePayload(payload)
  if (isPosition && (body.length === 0 || body.length > positionBytesMax)) {
    throw invalidArgument(`a position has 1 to ${positionBytesMax} bytes`)
  }
  return body
}
