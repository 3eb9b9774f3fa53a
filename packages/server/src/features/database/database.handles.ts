import { createCipheriv, createDecipheriv } from 'node:crypto'
import { once } from '@guildhall/contract'
import { z } from 'zod'
import type { StoredValue } from '../../database/explorer/explorer.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'

const lifeMs = 5 * 60_000
const handlesMax = 100_000

/** What a handle stands for: a place in an order, or a row as it was. */
export type Held = { owner: string } & (
  | { is: 'cursor'; question: string; after: readonly StoredValue[] }
  | { is: 'row'; key: readonly StoredValue[]; digest: string }
)

/** Texts that mean something for five minutes, to their caller, who cannot read them. */
export type Handles = {
  issue(value: Held): string
  find(handle: string): Held | undefined
}

type HandlesDeps = { clock: Clock; ids: Pick<Ids, 'bytes'> }

/**
 * Random texts of 43 characters, whose values the node keeps; beyond 100,000 the oldest go first.
 */
export function createHandles({ clock, ids }: HandlesDeps): Handles {
  // In the order of their making, and so of their end.
  const kept = new Map<string, { value: Held; untilMs: number }>()
  return {
    issue(value) {
      const nowMs = clock.monotonicMs()
      for (const [handle, { untilMs }] of kept) {
        if (untilMs > nowMs && kept.size < handlesMax) break
        kept.delete(handle)
      }
      const handle = ids.bytes(32).toString('base64url')
      kept.set(handle, { value, untilMs: nowMs + lifeMs })
      return handle
    },
    find(handle) {
      const found = kept.get(handle)
      return found === undefined || found.untilMs <= clock.monotonicMs() ? undefined : found.value
    },
  }
}

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/**
 * Texts that hold their value, sealed with a secret of the deployment: good on every node that has
 * it, and of no other use.
 */
export function createSealedHandles(deps: HandlesDeps & { secret: Uint8Array }): Handles {
  const { clock, ids, secret } = deps
  return {
    issue(value) {
      const nonce = ids.bytes(nonceBytes)
      const sealing = createCipheriv(cipher, secret, nonce)
      const text = JSON.stringify({ until: clock.nowUnixMs() + lifeMs, value: portable(value) })
      const sealed = [nonce, sealing.update(text), sealing.final(), sealing.getAuthTag()]
      return Buffer.concat(sealed).toString('base64url')
    },
    find(handle) {
      const text = unseal(Buffer.from(handle, 'base64url'), secret)
      if (text === undefined) return undefined
      const read = Sealed().safeParse(JSON.parse(text)).data
      return read === undefined || read.until <= clock.nowUnixMs() ? undefined : read.value
    },
  }
}

function unseal(sealed: Buffer, secret: Uint8Array): string | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined
  const opening = createDecipheriv(cipher, secret, sealed.subarray(0, nonceBytes))
  opening.setAuthTag(sealed.subarray(-tagBytes))
  try {
    const text = opening.update(sealed.subarray(nonceBytes, -tagBytes), undefined, 'utf8')
    return text + opening.final('utf8')
  } catch {
    return undefined
  }
}

const Sealed = once(() => {
  // Integers and bytes have no form of their own in JSON.
  const Value = z.union([
    z.string(),
    z.number(),
    z.null(),
    z.object({ integer: z.string() }).transform(({ integer }) => BigInt(integer)),
    z
      .object({ bytes: z.base64() })
      .transform(({ bytes }) => new Uint8Array(Buffer.from(bytes, 'base64'))),
  ])
  const said = { owner: z.string() }
  return z.object({
    until: z.number(),
    value: z.union([
      z.object({
        is: z.literal('cursor'),
        ...said,
        question: z.string(),
        after: z.array(Value),
      }),
      z.object({ is: z.literal('row'), ...said, key: z.array(Value), digest: z.string() }),
    ]),
  })
})

function portable(held: Held) {
  return held.is === 'row'
    ? { ...held, key: held.key.map(portableValue) }
    : { ...held, after: held.after.map(portableValue) }
}

function portableValue(value: StoredValue) {
  if (typeof value === 'bigint') return { integer: String(value) }
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}
