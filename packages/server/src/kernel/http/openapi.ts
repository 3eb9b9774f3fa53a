import { type Api, type ErrorCode, errorTable, type Route } from '@guildhall/contract'
import { z } from 'zod'

/** Title and version for the head of the document. */
export type OpenapiInfo = { title: string; version: string; description: string }

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
    paths,
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

function describeRoute(route: Route, names: { feature: string; operationId: string }): object {
  const { access, params, query, body } = route
  const parameters = [...describeMembers(params, 'path'), ...describeMembers(query, 'query')]
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
    required: place === 'path' || member._zod.optin !== 'optional',
    schema: schemaOf(member as z.ZodType, 'input'),
  }))
}

function describeSuccess({ ok, status }: Route): Record<string, object> {
  if (ok === undefined) return { 204: { description: 'Done' } }
  const schema = schemaOf(ok, 'output')
  const statuses = typeof status === 'object' ? status : [status ?? 200]
  const response = { description: 'Success', content: { 'application/json': { schema } } }
  return Object.fromEntries(statuses.map((each) => [each, response]))
}

/** The refusals that every route of an access has, and the declared ones, by status. */
function describeErrors(route: Route): Record<string, object> {
  const codes: ErrorCode[] = [
    'invalid_request',
    ...(route.access === 'public' ? [] : (['authentication_failed'] as const)),
    ...(route.access === 'operator' || route.access === 'admin' ? (['forbidden'] as const) : []),
    ...(route.errors ?? []),
    'internal_error',
  ]
  const schema = { $ref: '#/components/schemas/Error' }
  return Object.fromEntries(
    [...new Set(codes)].map((code) => [
      errorTable[code].status,
      { description: `\`${code}\``, content: { 'application/json': { schema } } },
    ]),
  )
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
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
