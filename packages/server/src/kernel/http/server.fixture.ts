import { brotliCompressSync, gzipSync } from 'node:zlib'
import { defineApi } from '@guildhall/contract'
import { z } from 'zod'
import type { OperatorPrincipal, PlayerPrincipal, Verifiers } from '../auth/principal.ts'
import { createFakeClock } from '../clock.fake.ts'
import { refuse } from '../failure.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import type { Document } from './documents.ts'
import { bindHandlers } from './exchange.ts'
import { createSourceAddress } from './request/source-address.ts'
import {
  type AnsweredRequest,
  createHttpServer,
  type FailedRequest,
  type HttpConfig,
  type HttpServerDeps,
} from './server.ts'

/** A table of one route per thing that the rules of HTTP speak of. */
const itemName = z.strictObject({
  name: z.string().refine((name) => !name.includes('\0'), { error: 'must not hold U+0000' }),
})
const Note = z.strictObject({
  text: z.string(),
  count: z.int().optional(),
  metadata: z
    .custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null)
    .meta({ free: true })
    .optional(),
})

export const sampleApi = defineApi({
  account: {
    method: 'GET',
    path: '/v1/account',
    access: 'player',
    noStore: true,
    summary: 'Who calls',
    ok: () => z.strictObject({ user_id: z.string(), source: z.string() }),
  },
  rename: {
    method: 'PATCH',
    path: '/v1/account',
    access: 'player',
    noStore: true,
    summary: 'Takes a body from a player',
    body: () => Note,
    ok: () => z.strictObject({ text: z.string() }),
  },
  signIn: {
    method: 'POST',
    path: '/v1/auth/sample',
    access: 'public',
    noStore: true,
    crossOrigin: true,
    summary: 'Takes a body from anybody, and says how many bytes its text has',
    body: () => Note,
    ok: () => z.strictObject({ bytes: z.int(), name: z.string().optional() }),
    errors: ['rate_limited', 'authentication_failed'],
  },
  logout: {
    method: 'POST',
    path: '/v1/session/sample',
    access: 'public',
    noStore: true,
    crossOrigin: true,
    bearer: 'optional',
    summary: 'Takes a body or none',
    body: () => z.strictObject({ text: z.string().optional() }),
    bodyNeeded: 'optional',
  },
  item: {
    method: 'GET',
    path: '/console/v1/items/{name}',
    access: 'operator',
    scope: 'groups:read',
    summary: 'Shows a path parameter as it was understood',
    params: () => itemName,
    ok: () => z.strictObject({ name: z.string() }),
    errors: ['not_found'],
  },
  list: {
    method: 'GET',
    path: '/console/v1/items',
    access: 'operator',
    scope: 'groups:read',
    summary: 'Declares query parameters',
    query: () =>
      z.strictObject({ filter: z.string().optional(), order: z.enum(['up']).optional() }),
    ok: () => z.strictObject({ filter: z.string().optional() }),
  },
  create: {
    method: 'POST',
    path: '/console/v1/items',
    access: 'admin',
    audit: 'groups.create',
    summary: 'A mutation',
    body: () => Note,
    ok: () => z.strictObject({ text: z.string() }),
    status: 201,
  },
  replace: {
    method: 'PUT',
    path: '/console/v1/items/{name}',
    access: 'admin',
    audit: 'groups.update',
    summary: 'Path parameter, query and body',
    params: () => itemName.extend({ name: z.string().max(3) }),
    query: () => z.strictObject({ mode: z.enum(['a']).optional() }),
    body: () => Note,
    ok: () => z.strictObject({ text: z.string() }),
  },
  fail: {
    method: 'GET',
    path: '/console/v1/failures/{code}',
    access: 'operator',
    scope: 'any key',
    summary: 'Refuses or fails in the way that it is asked to',
    params: () => z.strictObject({ code: z.string() }),
    ok: () => z.strictObject({}),
    errors: ['not_found', 'conflict', 'rate_limited', 'deadline_exceeded', 'runtime_unavailable'],
  },
  lookup: {
    method: 'GET',
    path: '/v1/users',
    access: 'player',
    summary: 'A read that caches may keep',
    ok: () => z.strictObject({}),
  },
  status: {
    method: 'GET',
    path: '/status',
    access: 'public',
    noStore: true,
    crossOrigin: true,
    summary: 'Public and open to other origins',
    ok: () => z.strictObject({}),
  },
  open: {
    method: 'GET',
    path: '/open',
    access: 'public',
    summary: 'Looks at no credential',
    ok: () => z.strictObject({ open: z.literal(true) }),
  },
  held: {
    method: 'GET',
    path: '/held',
    access: 'public',
    summary: 'Answers when the test lets it',
    ok: () => z.strictObject({ held: z.literal(false) }),
  },
})

export const sampleDocument: Document = {
  method: 'GET',
  path: '/sample.json',
  contentType: 'application/json',
  render: () => ({ content: '{"sample":true}' }),
}

/** A page with a policy of its own, at all paths below its own one. */
const pageText = `<p>${'page '.repeat(100)}</p>`
export const samplePages: readonly Document[] = (['/page', '/page/{*}'] as const).map((path) => ({
  method: 'GET',
  path,
  contentType: 'text/html; charset=utf-8',
  render: () => ({
    content: pageText,
    compressed: { br: brotliCompressSync(pageText), gzip: gzipSync(pageText) },
    headers: { 'content-security-policy': "default-src 'self'" },
  }),
}))

export const tokens = {
  player: 'gh.access.player',
  admin: 'admin-token',
  viewer: 'viewer-token',
  key: 'svc_k1_key',
} as const

const player: PlayerPrincipal = {
  kind: 'player',
  session_id: 's',
  user_id: 'user-1',
  username: 'ana',
  display_name: null,
}
const key: OperatorPrincipal = {
  kind: 'api_key',
  credential_id: 'c0ffee',
  key_name: 'ci',
  scopes: ['groups:read'],
  generation: 1,
}

const verifiers: Verifiers = {
  accessToken: async (token) => (token === tokens.player ? player : undefined),
  consoleToken(token) {
    if (token === tokens.admin) return { kind: 'human', username: 'root', role: 'admin' }
    if (token === tokens.viewer) return { kind: 'human', username: 'eye', role: 'viewer' }
    return undefined
  },
  apiKey: async (sent) => (sent === tokens.key ? key : undefined),
}

export type SampleServer = Awaited<ReturnType<typeof openSampleServer>>

type SampleOptions = {
  config?: Partial<HttpConfig>
  trustedProxies?: readonly string[]
  deps?: Partial<HttpServerDeps>
}

/** The sample table on a real socket. */
export async function openSampleServer(options: SampleOptions = {}) {
  const failures: { error: unknown; request: FailedRequest }[] = []
  const answered: AnsweredRequest[] = []
  const keyReads: string[] = []
  const log = createRecordedLog()
  const held = createHold()
  const clock = createFakeClock()
  let made = 0
  const server = createHttpServer({
    config: {
      behind_tls_proxy: false,
      cors_origins: [],
      max_connections: 1000,
      headers_timeout_ms: 5000,
      request_timeout_ms: 30_000,
      write_timeout_ms: 30_000,
      keep_alive_timeout_ms: 65_000,
      ...options.config,
    },
    clock,
    log,
    verifiers,
    recordKeyRead: (_key, route) => void keyReads.push(route.path),
    idempotency: { enter: async () => undefined, leave() {} },
    sourceOf: createSourceAddress(options.trustedProxies ?? []),
    newRequestId: () => (made++).toString(16).padStart(32, '0'),
    routes: [...bindHandlers(sampleApi, sampleHandlers(held.wait))],
    documents: [sampleDocument, ...samplePages],
    onAnswered: (_answer, describe) => void answered.push(describe()),
    onServerError: (error, request) => void failures.push({ error, request }),
    ...options.deps,
  })
  const { port } = await server.listen('127.0.0.1', 0)
  return {
    port,
    server,
    clock,
    log,
    failures,
    answered,
    keyReads,
    held,
    async close() {
      held.release()
      const closing = server.close(1)
      await clock.advance(1)
      await closing
    },
  }
}

/** Lets a test decide when a handler goes on, and see how many have reached it. */
function createHold() {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    reached: () => waiting.length,
    release() {
      for (const resume of waiting.splice(0)) resume()
    },
  }
}

function sampleHandlers(
  hold: () => Promise<void>,
): Parameters<typeof bindHandlers<typeof sampleApi>>[1] {
  return {
    account: async ({ principal, request }) => ({
      user_id: principal.user_id,
      source: request.source,
    }),
    rename: async ({ body }) => body,
    signIn: async ({ body }) => ({ bytes: Buffer.byteLength(body.text) }),
    logout: async () => undefined,
    lookup: async () => ({}),
    status: async () => ({}),
    item: async ({ params }) => params,
    list: async ({ query }) => query,
    create: async ({ body }) => body,
    replace: async ({ body }) => body,
    fail: ({ params }) => fail(params.code),
    open: async () => ({ open: true }),
    async held() {
      await hold()
      return { held: false }
    },
  }
}

/** Not an async function: a handler may also throw before it makes a promise. */
function fail(code: string): Promise<Record<string, never>> {
  switch (code) {
    case 'missing':
      throw refuse.notFound('internal reason')
    case 'conflict':
      throw refuse.conflict('the rule that was broken')
    case 'limited':
      throw refuse.rateLimited(7, 'internal reason')
    case 'undeclared':
      throw refuse.forbidden('internal reason')
    case 'gate':
      throw refuse.runtimeUnavailable('internal reason')
    default:
      throw new Error('internal reason with a secret')
  }
}
