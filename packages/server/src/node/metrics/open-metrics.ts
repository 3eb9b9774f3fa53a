import type { Config } from '../../config/schema.ts'
import { parseAddress } from '../../config/values/address.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { addressRefused } from '../../kernel/errors/address-refused.ts'
import { notAfterUnixMs } from '../../kernel/http/connection/certificates.ts'
import type { PipelineDeps } from '../../kernel/http/pipeline.ts'
import type { HttpServer } from '../../kernel/http/server.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Gateway } from '../../realtime/gateway.ts'
import type { ScriptHost } from '../../script/host.ts'
import type { Features } from '../features/features.ts'
import { backlogsOf, type FeatureList } from '../features/joined.ts'
import type { createListener } from '../http/listener.ts'
import type { Instruments } from './instruments.ts'
import { createMetricsListener } from './metrics-listener.ts'
import type { NodeReadings } from './node-metrics.ts'

/** What the metrics read; the listener of the API lends its certificate. */
export type MetricsSources = {
  config: Config
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  version: string
  features: FeatureList & Pick<Features, 'admission' | 'hashing' | 'apiKeys' | 'lag'>
  pipeline: PipelineDeps
  listener: Awaited<ReturnType<typeof createListener>>
  instruments: Instruments
  play: {
    gateway: Pick<Gateway, 'matchmaker'>
    script: Pick<ScriptHost, 'cpuSeries' | 'cpuSeconds'>
  }
  status(): NodeReadings['status']
  logLinesDropped(): number
}

/** Serves the metrics on an address of their own. */
export async function openMetrics(sources: MetricsSources): Promise<HttpServer> {
  const { config, clock, ids, pipeline, listener, instruments, features } = sources
  const log = sources.log.component('metrics')
  const { certificate } = listener
  const address = parseAddress(config.metrics.bind)
  if (address === undefined) throw new Error('metrics.bind was checked when it was loaded')
  const server = createMetricsListener({
    ...pipeline,
    config,
    clock,
    log,
    ...(certificate && { tls: certificate.current() }),
    newRequestId: ids.requestId,
    onServerError: (error, fields) =>
      log.error('the metrics could not be shown', { ...fields, error }),
    noteUse: features.apiKeys.noteUse,
    render: () => instruments.render(() => readingsOf(sources)),
  })
  certificate?.onChange(server.setCertificate)
  const listening = server.listen(address.host, address.port)
  const { host, port } = await listening.catch(addressRefused('metrics.bind'))
  log.info('metrics are served', { host, port, path: config.metrics.path })
  return server
}

function readingsOf(sources: MetricsSources): NodeReadings {
  const { config, db, clock, features, version, listener } = sources
  const certificate = listener.certificate?.current().certificate
  const status = sources.status()
  const matchmaker = sources.play.gateway.matchmaker()
  return {
    status,
    version,
    nowUnixMs: clock.nowUnixMs(),
    stats: db.stats(),
    queues: [
      ...backlogsOf(features),
      {
        name: 'script_inbox',
        depth: status.metrics.script_inbox_calls ?? 0,
        capacity: config.runtime.inbox_calls,
        dropped: 0,
      },
      {
        name: 'matchmaker',
        depth: matchmaker.queued_tickets,
        capacity: config.matchmaker.max_tickets,
        dropped: 0,
      },
    ],
    matchmaker,
    scriptCpu: sources.play.script.cpuSeries(),
    scriptProcessCpuSeconds: sources.play.script.cpuSeconds(),
    hashingDepth: features.hashing.depth(),
    admissionRefusals: features.admission.refusals(),
    logLinesDropped: sources.logLinesDropped(),
    lag: features.lag.counts(),
    certificateEndsUnixMs: certificate === undefined ? undefined : notAfterUnixMs(certificate),
  }
}
