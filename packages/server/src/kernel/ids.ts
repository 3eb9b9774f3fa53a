import { createHash, randomFillSync } from 'node:crypto'
import type { Clock } from './clock.ts'

/** Makes every id and secret of a node. This is the only place that makes randomness. */
export type Ids = {
  /** 4 hex digits of the node and its boot, as durable ids have them. */
  readonly salt: string
  /** `user-` and the 32 hex digits of a UUID version 7: sorts by time of creation. */
  accountId(): string
  /** `gh.refresh.` and 43 base64url characters, 256 random bits. */
  refreshToken(): string
  /** 64 hex digits, 256 random bits. */
  consoleToken(): string
  /** 32 lower-case hex digits, 128 random bits. */
  hex128(): string
  /** 32 hex digits that begin with the time, so that rows of sessions are added at the end. */
  sessionId(): string
  /** The 32 hex digits of a UUID version 7, of captures and recordings for diagnostics. */
  uuid7(): string
  /** `lr1-`, 13 hex digits of Unix ms and 11 random ones. */
  lagReportId(): string
  /** 32 lower-case hex digits, unique but not secret: half of them name the boot, half count. */
  requestId(): string
  /** `prefix` and 29 hex digits whose text order is their time order, e.g. `durable('au1-')`. */
  durable(prefix: DurablePrefix): string
  /** `size` random bytes from the system's secure source. */
  bytes(size: number): Buffer
}

export type DurablePrefix = 'mt1-' | 'ml1-' | 'au1-' | 'ats1-'

type IdsDeps = { clock: Clock; nodeId: string; bootId: string; randomness?: Randomness }

/** Returns `size` bytes that the caller owns. */
export type Randomness = (size: number) => Buffer

export function createIds({ clock, nodeId, bootId, randomness }: IdsDeps): Ids {
  const bytes = randomness ?? pooledRandomness()
  const salt = createHash('sha256')
    .update(nodeId + bootId)
    .digest('hex')
    .slice(0, 4)
  const durable = createDurableTexts(clock, salt)
  return {
    salt,
    accountId: () => `user-${uuidVersion7(clock.nowUnixMs(), bytes(10))}`,
    refreshToken: () => `gh.refresh.${bytes(32).toString('base64url')}`,
    consoleToken: () => bytes(32).toString('hex'),
    hex128: () => bytes(16).toString('hex'),
    sessionId: () => uuidVersion7(clock.nowUnixMs(), bytes(10)),
    uuid7: () => uuidVersion7(Math.floor(clock.nowUnixMs()), bytes(10)),
    lagReportId: () => {
      const time = hex(Math.floor(clock.nowUnixMs()), 13)
      return `lr1-${time}${bytes(6).toString('hex').slice(0, 11)}`
    },
    requestId: countingHex(() => bytes(8).toString('hex')),
    durable: (prefix) => prefix + durable(),
    bytes,
  }
}

/** The name of one run of a node: `bt1-` and the 32 hex digits of a random UUID. */
export function newBootId(randomness: Randomness = pooledRandomness()): string {
  const uuid = randomness(16)
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x40, 6)
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8)
  return `bt1-${uuid.toString('hex')}`
}

/**
 * 13 hex digits of Unix ms, 4 of salt, 12 of a sequence, whose top 16 bits say who counts: 0 is the
 * node itself, others are script workers. Within a boot the time part never goes
 * backwards, even when the wall clock does, so that text order stays the order of making.
 */
export function createDurableTexts(
  clock: Pick<Clock, 'nowUnixMs'>,
  salt: string,
  counter = 0,
): () => string {
  let lastUnixMs = -1
  let beginning = ''
  let sequence = counter * 2 ** 32
  return () => {
    const nowUnixMs = clock.nowUnixMs()
    if (nowUnixMs > lastUnixMs) {
      lastUnixMs = nowUnixMs
      beginning = hex(nowUnixMs, 13) + salt
    }
    sequence += 1
    return beginning + hex(sequence, 12)
  }
}

function countingHex(drawPrefix: () => string): () => string {
  let prefix: string | undefined
  let count = 0
  return () => {
    prefix ??= drawPrefix()
    count += 1
    return prefix + hex(count, 16)
  }
}

function uuidVersion7(unixMs: number, random: Buffer): string {
  random.writeUInt8((random.readUInt8(0) & 0x0f) | 0x70, 0)
  random.writeUInt8((random.readUInt8(2) & 0x3f) | 0x80, 2)
  return hex(unixMs, 12) + random.toString('hex')
}

/** How many hex digits of ids with this prefix are their time. */
const timeDigits = { 'user-': 12, 'ml1-': 13 }
type TimedPrefix = keyof typeof timeDigits

/** What the ids begin with that are made in this moment. */
export function idAt(prefix: TimedPrefix, unixMs: number): string {
  const digits = timeDigits[prefix]
  return prefix + hex(Math.min(Math.max(0, unixMs), 16 ** digits - 1), digits)
}

/** So far, in milliseconds, may the time in an id be from that of the row that has it. */
export const idSlackMs = 60_000

/** Between which ids rows of a time are, but for those whose clock was set back meanwhile. */
export function idsOfTime(prefix: TimedPrefix, from: number, to: number) {
  return { first: idAt(prefix, from - idSlackMs), end: idAt(prefix, to + idSlackMs) }
}

/** When this id was made, in Unix milliseconds. */
export function timeOfId(prefix: TimedPrefix, id: string): number {
  return Number.parseInt(id.slice(prefix.length, prefix.length + timeDigits[prefix]), 16)
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

const poolBytes = 4096

/**
 * One call to the system for many small draws. What was handed out is cleared from the pool, so
 * that a secret does not stay behind in it.
 */
export function pooledRandomness(): Randomness {
  const pool = Buffer.alloc(poolBytes)
  let used = poolBytes
  return (size) => {
    if (size > poolBytes) return randomFillSync(Buffer.alloc(size))
    if (used + size > poolBytes) {
      randomFillSync(pool)
      used = 0
    }
    const drawn = Buffer.from(pool.subarray(used, used + size))
    pool.fill(0, used, used + size)
    used += size
    return drawn
  }
}
