import { expect, test } from 'vitest'
import { createMemoryDirectory } from '../../../cluster/directory/memory-directory.ts'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { Membership } from '../../../kernel/cluster/membership.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { leaseMs } from '../cluster.fixture.ts'
import { CoordinatorRole } from './role.ts'

test('[R-CL-12] a holder that does not coordinate is asked once for each look, and not at once', async () => {
  const [clock, directory, log] = [createFakeClock(), createMemoryDirectory(), createRecordedLog()]
  const node = { node_id: 'b', boot_id: 'bt1-b', version: '1.0.0', settings: {} }
  await directory.claimSlot({ ...node, state: 'live' })
  await directory.takeRole('gatherings', node.boot_id, [])
  const membership = new Membership({
    ...{ directory, clock, log, leaseMs, onLost() {} },
    node: { ...node, node_id: 'a', boot_id: 'bt1-a' },
    load: () => ({ rooms: 0, connections: 0 }),
  })
  await membership.start()
  let asked = 0
  const role = new CoordinatorRole({
    ...{ directory, membership, clock, log, isReachable: () => true },
    ...{ announce() {}, began() {}, serves() {}, ended() {} },
    found({ boot }) {
      asked += 1
      clock.after(1, () => role.refused(boot))
    },
  })
  for (const looks of [1, 2, 3]) {
    role.check()
    await clock.advance(1000)
    expect(asked).toBe(looks)
  }
  await membership.stop()
})
