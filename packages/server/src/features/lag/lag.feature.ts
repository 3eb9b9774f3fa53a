import { join } from 'node:path'
import { api } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import type { AuditRecorder } from '../../kernel/audit/recorder.ts'
import { rowQueue } from '../../kernel/batching/row-queue.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import { rawRoute } from '../../kernel/http/exchange.ts'
import { createSourceAddress } from '../../kernel/http/request/source-address.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Mutate } from '../../kernel/mutation.ts'
import type { RecordingPlayers } from '../../kernel/play/recording.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import type { TaskHandle } from '../../kernel/tasks/supervisor.ts'
import { defineFeature, type FeatureTask, mount } from '../feature.ts'
import { createAnalysisQueue } from './analysis/analysis-queue.ts'
import { createAnalysisThread } from './analysis/analysis-thread.ts'
import type { CaptureBounds } from './captures/capture-spec.ts'
import { type CaptureRow, capturesStore } from './captures/captures.store.ts'
import { createCaptures } from './captures/captures.ts'
import { consoleRpcs } from './lag.console-rpcs.ts'
import { auditRefusals, lagHandlers } from './lag.routes.ts'
import { lagFunctions } from './lag.script.ts'
import { captureListStore } from './reports/captures-list.store.ts'
import { createLagConsole } from './reports/lag.console.ts'
import { createPublish } from './reports/publish.ts'
import { createRawKeeping } from './reports/raw-keeping.ts'
import { reportsStore } from './reports/reports.store.ts'
import { createRawStore, type RawStore } from './uploads/raw-store.ts'
import { createUploads } from './uploads/uploads.ts'

type LagConfig = CaptureBounds & {
  enabled: boolean
  console_start: boolean
  raw_root?: string | undefined
  allowed_origins: readonly string[]
  max_concurrent_uploads: number
  max_raw_bytes: number
  retention_hours: number
  report_retention_days: number
}

export type LagFeatureDeps = {
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  nodeId: string
  bootId: string
  config: {
    lag_diagnostics: LagConfig
    http: { trusted_proxies: readonly string[]; request_timeout_ms: number }
    retention: { interval_sec: number }
    logs: { flush_batch_items: number; flush_interval_ms: number }
  }
  mutate: Mutate<Transaction>
  recorder: Pick<AuditRecorder, 'record'>
  recording: RecordingPlayers
  journal: Pick<ErrorJournal, 'record'>
}

const analysisEveryMs = 5000
const queuedCapturesMax = 1024

/** Lag diagnostics: clients record when envelopes come, and reports say how they were spaced. */
export function lagFeature(given: LagFeatureDeps) {
  const deps = { ...given, log: given.log.component('lag') }
  const { db, config, recorder } = deps
  const lagConfig = config.lag_diagnostics
  const rows = captureRows(deps)
  const kept = createKept(deps)
  const live = kept && createLive(deps, kept.raw, (row) => rows?.add(row))
  const uploads = createUploads({
    ...deps,
    sourceOf: createSourceAddress(config.http.trusted_proxies),
    config: { ...lagConfig, request_timeout_ms: config.http.request_timeout_ms },
    receiving: live,
    publish: createPublish({ ...deps, queued: () => kept?.queued() }),
  })
  const lag = createLagConsole({ ...deps, rows, kept })
  const routes = mount({ lag: lagHandlers(lag, recorder) })
  const pruneOf = pruners(deps)
  const unusable = (error: unknown) => {
    deps.journal.record({ category: 'task', component: 'lag-retention', error })
  }
  return defineFeature(
    {
      routes: {
        lag: auditRefusals(routes.lag, recorder),
        lagUpload: [rawRoute(api.lagUpload.upload, uploads.serve)],
      },
      script: lagFunctions(live?.captures),
      tasks: kept?.tasks ?? [],
      queues: rows === undefined ? [] : [rows],
      pruners: { lag_reports: pruneOf.reports, lag_captures: pruneOf.captures },
      crash: {
        lag_captures: { not: 'a capture ends with its node; the next boot closes the row' },
        lag_artifacts: { not: 'of diagnostics: what a crash loses was not answered' },
        lag_reports: { not: 'of diagnostics: what a crash loses was not answered' },
      },
      async afterClaim() {
        if (!db.durable) return
        await capturesStore.closeOrphans(db, { node_id: deps.nodeId, boot_id: deps.bootId })
        const opened = kept?.keeping.open()
        // While captures are off the node starts with a folder that cannot be used.
        await (lagConfig.enabled ? opened : opened?.catch(unusable))
      },
      async stop() {
        live?.captures.stop()
        await kept?.thread.stop()
      },
    },
    {
      consoleRpcs: consoleRpcs(lagConfig.console_start ? live?.captures : undefined),
      ofMatch: lag.ofMatch,
      countOfMatch: lag.countOfMatch,
      /** What has become of uploads, and how many captures there are, for the metrics. */
      counts: () => ({ uploads: uploads.counts(), captures: live?.captures.counts() ?? {} }),
    },
  )
}

/** What there is only while captures are on. */
function createLive(deps: LagFeatureDeps, raw: RawStore, write: (row: CaptureRow) => void) {
  const bounds = deps.config.lag_diagnostics
  if (!bounds.enabled) return undefined
  const captures = createCaptures({
    ...deps,
    bounds,
    players: deps.recording,
    quota: raw.quota,
    write,
  })
  return { raw, captures }
}

/** Keeps and analyses recordings, those of earlier times also while captures are off. */
function createKept(deps: LagFeatureDeps) {
  const { db, clock, config } = deps
  const { raw_root, ...lagConfig } = config.lag_diagnostics
  if (!db.durable || raw_root === undefined) return undefined
  const raw = createRawStore(join(raw_root), lagConfig.max_raw_bytes)
  const thread = createAnalysisThread(clock)
  const bytesMax = lagConfig.max_decompressed_bytes + headerBytes
  const queue = createAnalysisQueue({ ...deps, raw, thread, bytesMax })
  const keeping = createRawKeeping({ ...deps, raw, ...lagConfig })
  let analysis: TaskHandle | undefined
  const tasks: readonly FeatureTask[] = [
    {
      name: 'lag-analysis',
      intervalMs: analysisEveryMs,
      needsDatabase: true,
      run: queue.runAll,
      started(task) {
        analysis = task
      },
    },
    {
      name: 'lag-retention',
      intervalMs: config.retention.interval_sec * 1000,
      needsDatabase: true,
      run: keeping.removeExpired,
    },
  ]
  return { raw, thread, queue, keeping, tasks, queued: () => analysis?.wake() }
}

const headerBytes = 128

/** The rows of captures are written after the fact, the newest state of each. */
function captureRows(deps: LagFeatureDeps) {
  return rowQueue<CaptureRow>(deps, {
    name: 'lag_captures',
    capacity: queuedCapturesMax,
    keyed: {
      keyOf: ({ capture_id }) => capture_id,
      isHeld: ({ state }) => state !== 'sealed' && state !== 'expired',
    },
    write: (rows) => capturesStore.update(deps.db, rows),
  })
}

/** Reports and captures go when their days are over. */
function pruners({ db, clock, config }: LagFeatureDeps) {
  const { report_retention_days } = config.lag_diagnostics
  const expired = () => Math.round(clock.nowUnixMs()) - report_retention_days * 86_400_000
  const reports: PruneBatch<Transaction> = (batch_items, transact = db.transaction) =>
    transact((tx) => reportsStore.prune(tx, { expired_unix_ms: expired(), batch_items }), {
      isolation: 'read committed',
    })
  const captures: PruneBatch<Transaction> = (batch_items, transact = db.transaction) =>
    transact((tx) => captureListStore.prune(tx, { expired_unix_ms: expired(), batch_items }), {
      isolation: 'read committed',
    })
  return { reports, captures }
}
