import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import type { Database, Transaction } from '../database.ts'
import { statement } from '../statement.ts'
import { createLease } from './leases.ts'

/** Thrown when another process holds the node id; the process ends with exit code 4. */
export class NodeIdInUse extends Error {
  override readonly name = 'NodeIdInUse'
}

/** A node's exclusive right to its node_id, held from start to stop. */
export type NodeClaim = {
  /** False once the database has named another holder of the node_id, until it is taken again. */
  ok(): boolean
  /** To be called every `claimRenewMs`; takes a lost claim again when it is free. */
  renew(): Promise<void>
  /** Marks the boot ended and lets the next process have the node_id. */
  release(): Promise<void>
}

export type NodeClaimDeps = { db: Database; clock: Clock; log: Log; nodeId: string; bootId: string }

export const claimRenewMs = 2000
const claimLifeMs = 6000
const startForMs = 10_000
const startPauseMs = 250

/**
 * Takes the claim, waiting up to 10 seconds for a predecessor to go, and records the boot. Only
 * PostgreSQL needs the row: a file is locked, and a database in memory has no second process.
 */
export async function claimNode(deps: NodeClaimDeps): Promise<NodeClaim> {
  const claim = deps.db.backend === 'postgres' ? await takeLease(deps) : noLease
  let isOwn = true
  await reportUnendedBoots(deps)
  await recordBoot(deps)
  return {
    ok: () => isOwn,
    async renew() {
      // A database that does not answer says nothing about the holder.
      isOwn = await claim.keep()
      await deps.db.run(seenBoot, { boot_id: deps.bootId })
    },
    async release() {
      await deps.db.run(endBoot, { boot_id: deps.bootId })
      await claim.release()
    },
  }
}

const noLease = { keep: async () => true, release: async () => {} }

async function takeLease({ nodeId, bootId, ...deps }: NodeClaimDeps) {
  const { clock } = deps
  // Renewed at each call, and believed until another has it: it is no job that could run twice.
  const times = { renewAfterMs: 0, heldMs: Number.POSITIVE_INFINITY }
  const lease = createLease(
    `node/${nodeId}`,
    { ...deps, holder: bootId, lifeMs: claimLifeMs },
    times,
  )
  const giveUpAtMs = clock.monotonicMs() + startForMs
  while (!(await lease.keep())) {
    if (clock.monotonicMs() >= giveUpAtMs) {
      throw new NodeIdInUse(`node_id ${nodeId} is in use by another process on this database`)
    }
    await clock.sleep(startPauseMs)
  }
  return lease
}

/** A boot that was not ended was killed: what it had not written yet may be missing. */
async function reportUnendedBoots({ db, log, nodeId }: NodeClaimDeps): Promise<void> {
  for (const boot of await db.all(unendedBoots, { node_id: nodeId })) {
    log.warn('an earlier boot did not end in order; its last rows may be missing', {
      earlier_boot_id: boot.boot_id,
      last_seen: new Date(boot.seen_at_unix_ms).toISOString(),
    })
    await db.run(endBoot, { boot_id: boot.boot_id })
  }
}

async function recordBoot({ db, nodeId, bootId }: NodeClaimDeps): Promise<void> {
  await db.run(insertBoot, { boot_id: bootId, node_id: nodeId })
}

/** Boots that have ended are kept this long, in milliseconds. */
const endedKeptMs = 90 * 86_400_000

/** Removes the oldest boots that ended long ago. */
export function createEndedBootsPruner(db: Database): PruneBatch<Transaction> {
  return (batch_items, transact = db.transaction) =>
    transact((tx) => tx.run(removeEndedBoots, { kept_ms: endedKeptMs, batch_items }), {
      isolation: 'read committed',
    })
}

const removeEndedBoots = statement({
  name: 'node-claim.remove-ended-boots',
  text: `DELETE FROM node_boots WHERE boot_id IN (
      SELECT boot_id FROM node_boots WHERE ended_at_unix_ms < {{now}} - :kept_ms
      ORDER BY ended_at_unix_ms LIMIT :batch_items)`,
  params: { kept_ms: 'integer', batch_items: 'integer' },
})

const unendedBoots = statement({
  name: 'node-claim.unended-boots',
  text: `SELECT boot_id, seen_at_unix_ms FROM node_boots
    WHERE node_id = :node_id AND ended_at_unix_ms IS NULL ORDER BY started_at_unix_ms`,
  params: { node_id: 'text' },
  row: { boot_id: 'text', seen_at_unix_ms: 'integer' },
})

const insertBoot = statement({
  name: 'node-claim.insert-boot',
  text: `INSERT INTO node_boots (boot_id, node_id, started_at_unix_ms, seen_at_unix_ms)
    VALUES (:boot_id, :node_id, {{now}}, {{now}})`,
  params: { boot_id: 'text', node_id: 'text' },
})

const seenBoot = statement({
  name: 'node-claim.seen-boot',
  text: 'UPDATE node_boots SET seen_at_unix_ms = {{now}} WHERE boot_id = :boot_id',
  params: { boot_id: 'text' },
})

const endBoot = statement({
  name: 'node-claim.end-boot',
  text: `UPDATE node_boots SET ended_at_unix_ms = {{now}}
    WHERE boot_id = :boot_id AND ended_at_unix_ms IS NULL`,
  params: { boot_id: 'text' },
})
