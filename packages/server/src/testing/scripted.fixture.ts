import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../kernel/clock.ts'
import { createErrorJournal } from '../kernel/errors/error-journal.ts'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import type { CallContext } from '../kernel/play/calls.ts'
import { joinScript } from '../node/features/joined.ts'
import { createScriptHost } from '../script/host.ts'
import { noPorts } from '../script/ports.ts'
import type { TestApi } from './api.ts'
import { testConfig } from './config.ts'

export type Scripted = Awaited<ReturnType<typeof openScripted>>

/** The features of a node with a script in a real worker, without a gateway. */
export async function openScripted({ features }: Pick<TestApi, 'features'>, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-scripted-'))
  writeFileSync(join(folder, 'main.js'), text)
  const log = createRecordedLog()
  const { runtime, errors } = await testConfig()
  const clock = createSystemClock()
  const filtersSet: Promise<boolean>[] = []
  const host = createScriptHost({
    config: { ...runtime, scripts_dir: folder, deadline_ms: 1000 },
    clock,
    log,
    journal: createErrorJournal({ clock, log, bounds: errors }),
    nodeId: 'scripted',
    // Where workers find their program compiled.
    environment: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    setIndexFilter(...filter) {
      const set = features.storage.runtime.setFilter(...filter)
      filtersSet.push(set)
      return set
    },
  })
  await host.start({ ...noPorts, functions: joinScript(features) })
  await Promise.all(filtersSet)
  return {
    host,
    log,
    /** Calls an RPC of the script for an account; its reply as JSON, 64-bit integers as text. */
    async rpc(method: string, payload: unknown = null, user_id: string | null = null) {
      const body = new TextEncoder().encode(JSON.stringify(payload))
      const outcome = await host.game.rpc({ ...somebody, user_id }, method, body)
      if (!outcome.ok) throw new Error(outcome.error)
      return JSON.parse(new TextDecoder().decode(outcome.reply)) as unknown
    },
    async close(): Promise<void> {
      await host.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const somebody: CallContext = {
  participant: 1,
  user_id: null,
  username: null,
  room_id: null,
  match_id: null,
}
