import type { Database, Transaction } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import {
  clusterNames,
  clusterNodes,
  clusterRoles,
  clusterSeats,
  clusterSessions,
} from '../../database/tables/cluster.ts'
import { pick } from '../../database/tables/table.ts'
import type {
  Directory,
  NameDirectory,
  NodeDirectory,
  RoleDirectory,
  SeenBoot,
} from '../../kernel/cluster/directory.ts'
import { sessionDirectory } from './sessions.store.ts'

/** The directory of a deployment, in the database that its nodes share. */
export function createDirectory(db: Database): Directory {
  return {
    ...nodeDirectory(db),
    ...nameDirectory(db),
    ...roleDirectory(db),
    ...sessionDirectory(db),
  }
}

function nodeDirectory(db: Database): NodeDirectory {
  return {
    async claimSlot({ settings, ...boot }) {
      for (;;) {
        const next = await db.get(nextSlot, {})
        if (next === undefined || next.slot > slotMax) {
          throw new Error('all slots of the deployment are taken')
        }
        const row = { ...boot, slot: next.slot, settings_json: { ...settings } }
        // Another node may have been faster; then there is a next one.
        const claimed = await db.get(claim, row)
        if (claimed !== undefined) return claimed.slot
      }
    },
    renew: async (report) => (await db.run(renew, report)) > 0,
    async nodes() {
      const rows = await db.all(taken, {})
      return rows.map(({ settings_json, state, ...row }) => ({
        ...row,
        state: state === 'draining' ? 'draining' : 'live',
        settings: settingsOf(settings_json),
      }))
    },
    leave: (boot_id) => db.transaction((tx) => removeBoot(tx, boot_id), lockRows),
    free: (seen) =>
      db.transaction(async (tx) => {
        if ((await tx.get(lockSilent, seen)) === undefined) return false
        await removeBoot(tx, seen.boot_id)
        return true
      }, lockRows),
  }
}

const lockRows = { isolation: 'read committed', idempotent: true } as const
const slotMax = 4095

function settingsOf(stored: object): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(stored).map(([key, value]) => [key, String(value)]))
}

async function removeBoot(tx: Transaction, boot_id: string): Promise<void> {
  await tx.run(freeSlot, { boot_id })
  await tx.run(removeNames, { boot_id })
  await tx.run(removeSessions, { boot_id })
  await tx.run(removeSeats, { boot_id })
  await tx.run(freeRoles, { boot_id })
}

function nameDirectory(db: Database): NameDirectory {
  return {
    async reserveName(name, holder, gone) {
      for (;;) {
        // Both at once: most names that are asked for have a holder, and players wait for it.
        const [reserved, held] = await Promise.allSettled([
          db.get(reserve, { name, ...holder }),
          db.get(holderOf, { name }),
        ])
        // Not before both are over: a row that came later would be nobody's.
        if (reserved.status === 'rejected') throw reserved.reason
        if (reserved.value !== undefined) return holder
        if (held.status === 'rejected') throw held.reason
        if (held.value === undefined) continue
        const { room_id, boot_id } = held.value
        const mayTake = mayTakeOf(held.value, gone)
        if (mayTake === undefined) return { room_id, boot_id }
        const isTaken = await db.transaction(async (tx) => {
          if (!(await stillOver(tx, mayTake))) return false
          return (await tx.run(takeName, { name, ...holder, old_boot_id: boot_id })) > 0
        }, lockRows)
        if (isTaken) return holder
        if (!(await stillOver(db, mayTake))) return { room_id, boot_id }
      }
    },
    releaseName: async (name, holder) => void (await db.run(release, { name, ...holder })),
    namesOf: (boot_id) => db.all(namesOf, { boot_id }),
  }
}

/** How the holder was last seen, if what it has may be taken over; it is checked again then. */
function mayTakeOf(
  { boot_id, has_node }: { boot_id: string; has_node: boolean },
  gone: readonly SeenBoot[],
): SeenBoot | undefined {
  const seen = gone.find((each) => each.boot_id === boot_id)
  return seen ?? (has_node ? undefined : { boot_id, renewals: 0 })
}

/** Locks the row of the boot, so that it cannot renew before the takeover is there for all. */
async function stillOver(tx: Pick<Transaction, 'get'>, seen: SeenBoot): Promise<boolean> {
  const row = await tx.get(lockBoot, { boot_id: seen.boot_id })
  return row === undefined || row.renewals === seen.renewals
}

function roleDirectory(db: Database): RoleDirectory {
  return {
    takeRole: (role, boot, gone) =>
      db.transaction(async (tx) => {
        await tx.run(addRole, { role })
        const held = await tx.get(lockRole, { role })
        if (held === undefined) throw new Error(`the role ${role} was not stored`)
        const isFree = held.holder === '' || (await mayTakeOver(tx, held.holder, gone))
        if (!isFree) return held
        const taken = { holder: boot, generation: held.generation + 1 }
        await tx.run(takeRole, { role, ...taken })
        return taken
      }, lockRows),
    releaseRole: async (role, held) => void (await db.run(releaseRole, { role, ...held })),
  }
}

async function mayTakeOver(
  tx: Transaction,
  boot_id: string,
  gone: readonly SeenBoot[],
): Promise<boolean> {
  const row = await tx.get(lockBoot, { boot_id })
  if (row === undefined) return true
  return gone.some((seen) => seen.boot_id === boot_id && seen.renewals === row.renewals)
}

const bootOnly = pick(clusterNodes, 'boot_id')
const seenRow = pick(clusterNodes, 'boot_id', 'renewals')

/** Slots that were never taken have been free longest. */
const nextSlot = statement({
  name: 'cluster.next-slot',
  text: `SELECT slot FROM (
      SELECT COALESCE(MAX(slot), 0) + 1 AS slot, -1 AS freed FROM cluster_nodes
      HAVING COALESCE(MAX(slot), 0) < 4095
      UNION ALL SELECT slot, freed FROM cluster_nodes WHERE boot_id = '') AS free
    ORDER BY freed, slot LIMIT 1`,
  params: {},
  row: { slot: 'integer' },
})

const claim = statement({
  name: 'cluster.claim-slot',
  text: `INSERT INTO cluster_nodes (slot, node_id, boot_id, version, state, renewals, rooms,
      connections, settings_json, freed)
    VALUES (:slot, :node_id, :boot_id, :version, :state, 1, 0, 0, :settings_json, 0)
    ON CONFLICT (slot) DO UPDATE SET node_id = excluded.node_id, boot_id = excluded.boot_id,
      version = excluded.version, state = excluded.state,
      renewals = cluster_nodes.renewals + 1, rooms = 0, connections = 0,
      settings_json = excluded.settings_json
    WHERE cluster_nodes.boot_id = ''
    RETURNING slot`,
  params: pick(clusterNodes, 'slot', 'node_id', 'boot_id', 'version', 'state', 'settings_json'),
  row: { slot: 'integer' },
})

const renew = statement({
  name: 'cluster.renew-slot',
  text: `UPDATE cluster_nodes SET renewals = renewals + 1, state = :state, rooms = :rooms,
      connections = :connections
    WHERE slot = :slot AND boot_id = :boot_id`,
  params: pick(clusterNodes, 'slot', 'boot_id', 'state', 'rooms', 'connections'),
})

const taken = statement({
  name: 'cluster.nodes',
  text: `SELECT slot, node_id, boot_id, version, state, renewals, rooms, connections,
      settings_json
    FROM cluster_nodes WHERE boot_id <> '' ORDER BY slot`,
  row: pick(
    clusterNodes,
    'slot',
    'node_id',
    'boot_id',
    'version',
    'state',
    'renewals',
    'rooms',
    'connections',
    'settings_json',
  ),
})

const lockBoot = statement({
  name: 'cluster.lock-boot',
  text: 'SELECT n.renewals FROM cluster_nodes n WHERE n.boot_id = :boot_id {{for update of n}}',
  params: bootOnly,
  row: pick(clusterNodes, 'renewals'),
})

const lockSilent = statement({
  name: 'cluster.lock-silent-boot',
  text: `SELECT n.slot FROM cluster_nodes n
    WHERE n.boot_id = :boot_id AND n.renewals = :renewals {{for update of n}}`,
  params: seenRow,
  row: pick(clusterNodes, 'slot'),
})

const freeSlot = statement({
  name: 'cluster.free-slot',
  text: `UPDATE cluster_nodes SET boot_id = '', state = 'free', renewals = renewals + 1,
      freed = (SELECT MAX(freed) + 1 FROM cluster_nodes)
    WHERE boot_id = :boot_id`,
  params: bootOnly,
})

const removeNames = statement({
  name: 'cluster.remove-names',
  text: 'DELETE FROM cluster_names WHERE boot_id = :boot_id',
  params: bootOnly,
})

const removeSessions = statement({
  name: 'cluster.remove-sessions',
  text: 'DELETE FROM cluster_sessions WHERE boot_id = :boot_id',
  params: pick(clusterSessions, 'boot_id'),
})

const removeSeats = statement({
  name: 'cluster.remove-seats',
  text: 'DELETE FROM cluster_seats WHERE boot_id = :boot_id',
  params: pick(clusterSeats, 'boot_id'),
})

const freeRoles = statement({
  name: 'cluster.free-roles',
  text: "UPDATE cluster_roles SET holder = '' WHERE holder = :boot_id",
  params: bootOnly,
})

const nameRow = pick(clusterNames, 'name', 'room_id', 'boot_id')

const reserve = statement({
  name: 'cluster.reserve-name',
  text: `INSERT INTO cluster_names (name, room_id, boot_id) VALUES (:name, :room_id, :boot_id)
    ON CONFLICT (name) DO NOTHING RETURNING room_id`,
  params: nameRow,
  row: pick(clusterNames, 'room_id'),
})

const holderOf = statement({
  name: 'cluster.name-holder',
  text: `SELECT n.room_id, n.boot_id,
      CASE WHEN EXISTS (SELECT 1 FROM cluster_nodes c WHERE c.boot_id = n.boot_id)
        THEN 1 ELSE 0 END AS has_node
    FROM cluster_names n WHERE n.name = :name`,
  params: pick(clusterNames, 'name'),
  row: { ...pick(clusterNames, 'room_id', 'boot_id'), has_node: 'flag' },
})

const takeName = statement({
  name: 'cluster.take-name',
  text: `UPDATE cluster_names SET room_id = :room_id, boot_id = :boot_id
    WHERE name = :name AND boot_id = :old_boot_id`,
  params: { ...nameRow, old_boot_id: 'text' },
})

const release = statement({
  name: 'cluster.release-name',
  text: `DELETE FROM cluster_names
    WHERE name = :name AND room_id = :room_id AND boot_id = :boot_id`,
  params: nameRow,
})

const namesOf = statement({
  name: 'cluster.names-of-boot',
  text: 'SELECT name, room_id FROM cluster_names WHERE boot_id = :boot_id ORDER BY name',
  params: pick(clusterNames, 'boot_id'),
  row: pick(clusterNames, 'name', 'room_id'),
})

const roleRow = pick(clusterRoles, 'role', 'holder', 'generation')

const addRole = statement({
  name: 'cluster.add-role',
  text: `INSERT INTO cluster_roles (role, holder, generation) VALUES (:role, '', 0)
    ON CONFLICT (role) DO NOTHING`,
  params: pick(clusterRoles, 'role'),
})

const lockRole = statement({
  name: 'cluster.lock-role',
  text: `SELECT r.holder, r.generation FROM cluster_roles r WHERE r.role = :role
    {{for update of r}}`,
  params: pick(clusterRoles, 'role'),
  row: pick(clusterRoles, 'holder', 'generation'),
})

const takeRole = statement({
  name: 'cluster.take-role',
  text: `UPDATE cluster_roles SET holder = :holder, generation = :generation
    WHERE role = :role`,
  params: roleRow,
})

const releaseRole = statement({
  name: 'cluster.release-role',
  text: `UPDATE cluster_roles SET holder = ''
    WHERE role = :role AND holder = :holder AND generation = :generation`,
  params: roleRow,
})
