import type { Database } from '../../../database/database.ts'
import { createLeases } from '../../../database/jobs/leases.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createRecordedLog, type RecordedLog } from '../../../kernel/log/log.fake.ts'
import { createSealer, type Sealer } from './sealer.ts'

type Options = { holder?: string; key?: string; log?: RecordedLog; batchItems?: number }

/** A sealer as a node has it, with a lease of its own. */
export function sealerOn(db: Database, clock: Clock, options: Options = {}): Sealer {
  const { holder = 'bt1-tests', key, log = createRecordedLog(), batchItems } = options
  const leases = createLeases({ db, clock, log, holder, lifeMs: 15_000 })
  return createSealer({
    db,
    clock,
    log,
    lease: leases.of('sealer'),
    key,
    ...(batchItems === undefined ? {} : { batchItems }),
  })
}
