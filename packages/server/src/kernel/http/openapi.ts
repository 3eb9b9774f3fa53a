import { type Api, type ErrorCode, errorTable, type Route } from '@guildhall/contract'
import { z } from 'zod'
import { isMutation } from './idempotent-request.ts'

/** The head of the document. */
export type OpenapiInfo = { title: string; version: string; description: string }

export function openapiInfo(version: string): OpenapiInfo {
  const description = 'Players, realtime play and the operator console of a Guildhall node.'
  return { title: 'Guildhall', version, description }
}

/**
 * Describes the route table as an OpenAPI 3.1 document. Nothing in it is written by hand: schemas,
 * bounds, statuses and error codes are those that the server itself checks with.
 */
export function describeApi(apis: Readonly<Record<string, Api>>, info: OpenapiInfo): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [feature, api] of Object.entries(apis)) {
    for (const [name, route] of Object.entries(api)) {
      const operation = describeRoute(route, { feature, operationId: `${feature}.${name}` })
      paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation }
    }
  }
  return {
    openapi: '3.1.0',
    info,
    paths: {
      ...paths,
      '/dashboard': { get: dashboardOperation },
      '/openapi.json': { get: ownOperation },
    },
    components: {
      securitySchemes: {
        player: { type: 'http', scheme: 'bearer', description: 'Access token of a player' },
        operator: { type: 'http', scheme: 'bearer', description: 'Console token or API key' },
      },
      schemas: { Error: errorSchema },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', enum: Object.keys(errorTable) },
    message: { type: 'string' },
  },
}

/** The description stands outside of the table, because it is made from it. */
const ownOperation = {
  operationId: 'shell.openapi',
  tags: ['shell'],
  summary: 'This description, unless it is switched off',
  responses: {
    200: {
      description: 'Success',
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    304: { description: 'Not changed since the ETag of `If-None-Match`' },
  },
  'x-access': 'public',
}

/** No JSON is answered there, so that it is no route of the table. */
const dashboardOperation = {
  operationId: 'shell.dashboard',
  tags: ['shell'],
  summary: 'The operator console as a page, also at every path below',
  responses: {
    200: { description: 'The page, as text/html' },
    304: { description: 'Not changed since the ETag of `If-None-Match`' },
  },
  'x-access': 'public',
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key with the same request within 24 hours gives the same answer again',
  schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[!-~]+$' },
}

function describeRoute(route: Route, names: { feature: string; operationId: string }): object {
  const { access, params, query, body } = route
  const parameters = [
    ...describeMembers(params, 'path'),
    ...describeMembers(query, 'query'),
    ...(isMutation(route) ? [idempotencyKey] : []),
  ]
  const content = body && { 'application/json': { schema: schemaOf(body, 'input') } }
  return {
    operationId: names.operationId,
    tags: [names.feature],
    summary: route.summary,
    ...(access === 'public' ? {} : { security: [{ [securityOf(access)]: [] }] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content && { requestBody: { required: route.bodyNeeded !== 'optional', content } }),
    responses: { ...describeSuccess(route), ...describeErrors(route) },
    'x-access': access,
    ...(route.scope === undefined ? {} : { 'x-scope': route.scope }),
    ...(route.audit === undefined ? {} : { 'x-audit': route.audit }),
  }
}

function securityOf(access: Route['access']): string {
  return access === 'player' ? 'player' : 'operator'
}

function describeMembers(schema: z.ZodObject | undefined, place: 'path' | 'query'): object[] {
  return Object.entries(schema?.shape ?? {}).map(([name, member]) => ({
    name,
    in: place,
    required: place === 'path' || !z.safeParse(member, undefined).success,
    schema: schemaOf(member, 'input'),
  }))
}

function describeSuccess(route: Route): Record<string, object> {
  const { ok, status, attachment, file } = route
  if (status === 101) return { 101: { description: 'The protocol is switched' } }
  if (file) return { 200: { description: 'Success', headers: asAttachment, content: asBytes } }
  if (ok === undefined) return { 204: { description: 'Done' } }
  const schema = schemaOf(ok, 'output')
  const statuses = typeof status === 'object' ? status : [status ?? 200]
  const content = { 'application/json': { schema } }
  return Object.fromEntries(
    statuses.map((each) => {
      const description = each < 400 ? 'Success' : 'The same, when the answer is no'
      const headers = attachment ? asAttachment : 'ofNode' in route ? ofNode : undefined
      return [each, { description, ...(headers && { headers }), content }]
    }),
  )
}

const ofNode = { 'X-Node-Id': { description: 'In a cluster', schema: { type: 'string' } } }
const asBytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
const asAttachment = { 'Content-Disposition': { required: true, schema: { type: 'string' } } }

/** The refusals that every route of an access has, and the declared ones, by status. */
function describeErrors(route: Route): Record<string, object> {
  const codes: ErrorCode[] = [
    'invalid_request',
    ...(route.access === 'public' ? [] : (['authentication_failed'] as const)),
    ...(route.access === 'operator' || route.access === 'admin' ? (['forbidden'] as const) : []),
    ...(route.errors ?? []),
    ...(isMutation(route) ? (['conflict'] as const) : []),
    'internal_error',
  ]
  const schema = { $ref: '#/components/schemas/Error' }
  return Object.fromEntries(
    [...new Set(codes)].map((code) => [
      errorTable[code].status,
      {
        description: `\`${code}\``,
        ...(code === 'rate_limited' && { headers: { 'Retry-After': retryAfter } }),
        content: { 'application/json': { schema } },
      },
    ]),
  )
}

const retryAfter = { required: true, schema: { type: 'integer', minimum: 1 } }

function schemaOf(schema: z.core.$ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { jsonSchema: declared } = z.globalRegistry.get(zodSchema) ?? {}
      delete jsonSchema.jsonSchema
      delete jsonSchema.free
      if (typeof declared !== 'object' || declared === null) return
      for (const name of Object.keys(jsonSchema)) delete jsonSchema[name]
      Object.assign(jsonSchema, declared)
    },
  })
  return described
}
