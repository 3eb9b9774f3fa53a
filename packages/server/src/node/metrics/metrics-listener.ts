import type { Config } from '../../config/schema.ts'
import { isLoopback, parseAddress } from '../../config/values/address.ts'
import { bearerOf } from '../../kernel/auth/bearer.ts'
import type { ApiKeyPrincipal, Verifiers } from '../../kernel/auth/principal.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Serve } from '../../kernel/http/pipeline.ts'
import { createHttpServer, type HttpServerDeps } from '../../kernel/http/server.ts'
import { expositionType } from '../../kernel/metrics/exposition.ts'

export type MetricsListenerDeps = Omit<
  HttpServerDeps,
  'config' | 'routes' | 'documents' | 'pages'
> & {
  config: Config
  /** A key was used; that is not audited here. */
  noteUse(key: ApiKeyPrincipal): void
  render(): string
}

/** The listener of the metrics page, which has nothing else. */
export function createMetricsListener({ config, noteUse, render, ...deps }: MetricsListenerDeps) {
  const { auth, path, bind } = config.metrics
  const serve: Serve = async (exchange) => {
    if (auth === 'api_key') noteUse(await scraper(exchange.head.authorization, deps.verifiers))
    exchange.header('cache-control', 'no-store')
    exchange.reply(200, render(), expositionType)
  }
  const { tls, ...plain } = deps
  const isLocal = isLoopback(parseAddress(bind)?.host ?? '')
  return createHttpServer({
    ...plain,
    ...(tls !== undefined && !isLocal ? { tls } : {}),
    config: { ...config.http, cors_origins: [] },
    routes: [],
    documents: [],
    pages: [{ method: 'GET', path: path as `/${string}`, serve }],
  })
}

/** The API key that may read the page. */
async function scraper(
  authorization: readonly string[],
  verifiers: Verifiers,
): Promise<ApiKeyPrincipal> {
  const bearer = bearerOf(authorization)
  const key = bearer?.startsWith('svc_') ? await verifiers.apiKey(bearer) : undefined
  if (key === undefined) throw refuse.unauthenticated('missing or invalid API key')
  if (!key.scopes.includes('telemetry:read')) throw refuse.forbidden('the key lacks telemetry:read')
  return key
}
