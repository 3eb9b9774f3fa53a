import { api } from '@guildhall/contract'
import type { Config } from '../../config/schema.ts'
import { DatabaseUnavailable } from '../../database/database.ts'
import { mount, type Routes, type Section } from '../../features/feature.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import { refuse } from '../../kernel/failure.ts'
import { createAccessLog } from '../../kernel/http/access-log.ts'
import type { Document } from '../../kernel/http/documents.ts'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import { describeApi, openapiInfo } from '../../kernel/http/openapi.ts'
import type { PipelineDeps } from '../../kernel/http/pipeline.ts'
import { createHttpServer, type HttpServerDeps } from '../../kernel/http/server.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import { dashboardDocuments } from '../../shell/dashboard.ts'
import { type ShellDeps, shellHandlers } from '../../shell/shell.routes.ts'
import { openCertificate } from '../certificates.ts'

export type ListenerDeps = {
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  journal: ErrorJournal
  version: string
  pipeline: PipelineDeps
  /** Of the features: every section of the contract but those of the node itself. */
  routes: Routes<Exclude<Section, 'shell' | 'realtime'>>
  shell: ShellDeps
  /** Called for every answered request; absent where nothing is measured. */
  recordRequest?: OnAnswered | undefined
  /** Takes over WebSocket upgrades; absent when the transport is off. */
  acceptUpgrade?: NonNullable<HttpServerDeps['upgrade']>['accept'] | undefined
}

/** Builds the HTTP listener with every route of the table and the API's description. */
export async function createListener(deps: ListenerDeps) {
  const { config, clock, ids, acceptUpgrade } = deps
  const log = deps.log.component('http')
  const certificate = await openCertificate(config.http.tls, { clock, log })
  const routes: Routes<Section> = {
    ...deps.routes,
    ...mount({ shell: shellHandlers(deps.shell), realtime: realtimeHandlers() }),
  }
  const { realtime, ...others } = routes
  const server = createHttpServer({
    ...deps.pipeline,
    config: config.http,
    clock,
    log,
    ...(certificate && { tls: certificate.current() }),
    newRequestId: ids.requestId,
    routes: [...Object.values(others).flat(), ...(acceptUpgrade === undefined ? [] : realtime)],
    documents: [
      ...dashboardDocuments(log),
      ...(config.http.openapi ? [openapiDocument(deps.version)] : []),
    ],
    ...(acceptUpgrade && { upgrade: { path: '/v1/realtime', accept: acceptUpgrade } }),
    onAnswered: deps.recordRequest
      ? both(createAccessLog(config.logging, log), deps.recordRequest)
      : createAccessLog(config.logging, log),
    onServerError: (error, { request_id, ...fields }) => {
      const category = error instanceof DatabaseUnavailable ? 'database' : 'request'
      deps.journal.record({ category, component: 'http', error, request_id, fields })
    },
  })
  certificate?.onChange(server.setCertificate)
  return {
    server,
    /** Absent without TLS. */
    certificate,
  }
}

type OnAnswered = NonNullable<HttpServerDeps['onAnswered']>

/** Describes a request once for the access log and the metrics. */
function both(accessLog: OnAnswered | undefined, record: OnAnswered): OnAnswered {
  return (answer, describe) => {
    accessLog?.(answer, describe)
    record(answer, describe)
  }
}

/** An upgrade never gets here. */
function realtimeHandlers(): ServerHandlers<typeof api.realtime> {
  return {
    connect: async () => {
      throw refuse.invalid('needs a WebSocket upgrade')
    },
  }
}

function openapiDocument(version: string): Document {
  return {
    method: 'GET',
    path: '/openapi.json',
    contentType: 'application/json',
    render: () => ({ content: JSON.stringify(describeApi(api, openapiInfo(version))) }),
  }
}
