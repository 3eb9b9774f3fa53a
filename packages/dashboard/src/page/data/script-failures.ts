import type { HandlerFailure } from '@guildhall/contract'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { queries } from './console-client.ts'
import { useNodeStatus } from './node-status.ts'
import { useRead } from './reads.ts'

/** The counters of `/status` that grow with every failure of the script. */
const counters = [
  'script_call_errors_total',
  'script_call_timeouts_total',
  'script_interrupts_total',
  'script_worker_restarts_total',
  'script_reloads_total',
  'script_reload_rejections_total',
]

const key = ['runtime', 'failures'] as const

/** What goes wrong in the script of this node. */
export function useScriptFailures(options: { everyMs?: number } = {}) {
  return useRead(key, (client) => client.runtime.failures({}), options)
}

/**
 * Reads the script and its failures again when a counter of them has grown, its readiness is
 * another or the node has started anew, all of which is read anyway: nothing is missed, and a
 * script that is well costs no request.
 */
export function useFailureWatch(): void {
  const { data, dataUpdatedAt } = useNodeStatus()
  const status = data?.status
  const counted = counters.map((name) => status?.metrics[name] ?? 0)
  const watched = [status?.runtime.readiness, ...counted].join(' ')
  const uptimeSec = status?.uptime_seconds
  const before = useRef({ watched: '', uptimeSec: 0, readAtMs: 0 })
  useEffect(() => {
    if (uptimeSec === undefined) return
    const last = before.current
    before.current = { watched, uptimeSec, readAtMs: dataUpdatedAt }
    const startedMs = dataUpdatedAt - uptimeSec * 1000
    const isAnew = uptimeSec < last.uptimeSec || startedMs > last.readAtMs
    if (last.watched === watched && !isAnew) return
    void queries.invalidateQueries({ queryKey: ['runtime'] })
  }, [watched, uptimeSec, dataUpdatedAt])
}

/** When the newest failure came that this browser has shown, by the clock of the node. */
const seenKey = 'guildhall-failures-seen'
let seenUnixMs = Number(localStorage.getItem(seenKey) ?? 0)
const listeners = new Set<() => void>()

export const seenFailures = {
  until: () => seenUnixMs,

  /** All that have happened by now are known. */
  see([newest]: readonly HandlerFailure[]): void {
    if (newest === undefined || newest.last_at_unix_ms <= seenUnixMs) return
    seenUnixMs = newest.last_at_unix_ms
    localStorage.setItem(seenKey, String(seenUnixMs))
    for (const listener of listeners) listener()
  },

  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

export function useSeenFailures(): number {
  return useSyncExternalStore(seenFailures.subscribe, seenFailures.until)
}
