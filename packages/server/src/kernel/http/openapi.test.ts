import { api, errorTable, type Route } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isMutation } from './idempotent-request.ts'
import { describeApi, openapiInfo } from './openapi.ts'

/** As much of OpenAPI 3.1 as the description uses; anything else in it is a mistake. */
const Media = z.strictObject({
  'application/json': z.strictObject({ schema: z.record(z.string(), z.unknown()) }),
})
const File = z.strictObject({
  'application/octet-stream': z.strictObject({ schema: z.record(z.string(), z.unknown()) }),
})
const Response = z.strictObject({
  description: z.string().min(1),
  content: z.union([Media, File]).optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
})
const Parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()),
})
const Operation = z.strictObject({
  operationId: z.string().regex(/^[a-zA-Z]+\.[a-zA-Z]+$/),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(1),
  security: z
    .array(z.record(z.string(), z.array(z.never())))
    .length(1)
    .optional(),
  parameters: z.array(Parameter).optional(),
  requestBody: z.strictObject({ required: z.boolean(), content: Media }).optional(),
  responses: z.record(z.string().regex(/^[1-5]\d\d$/), Response),
  'x-access': z.enum(['public', 'player', 'operator', 'admin']),
  'x-scope': z.string().optional(),
  'x-audit': z.string().optional(),
})
const Description = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string() }),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), Operation),
  ),
  components: z.strictObject({
    securitySchemes: z.record(
      z.string(),
      z.strictObject({
        type: z.literal('http'),
        scheme: z.literal('bearer'),
        description: z.string(),
      }),
    ),
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
  }),
})

const sent: unknown = JSON.parse(JSON.stringify(describeApi(api, openapiInfo('1.2.3'))))
const description = Description.parse(sent)
const routes: [name: string, route: Route][] = Object.entries(api).flatMap(([feature, rows]) =>
  Object.entries(rows).map(([name, route]): [string, Route] => [`${feature}.${name}`, route]),
)
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

function operationOf({ path, method }: Route) {
  const found = operations.find(
    (each) => each.path === path && each.method === method.toLowerCase(),
  )
  if (found === undefined) throw new Error(`${method} ${path} is not described`)
  return found.operation
}

/** Every JSON Schema within the document, with those inside it. */
function* schemasIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (
      name === 'schema' ||
      name === 'schemas' ||
      name === 'properties' ||
      name === 'items' ||
      name === 'anyOf'
    ) {
      const isMap = name === 'schemas' || name === 'properties' || name === 'anyOf'
      for (const schema of isMap ? Object.values(member) : [member]) yield Object(schema)
    }
    yield* schemasIn(member)
  }
}

describe('the description', () => {
  it('[H-PUB-8] has the form of OpenAPI 3.1', () => {
    expect(Description.safeParse(sent).error).toBeUndefined()
    expect(description.info).toEqual({
      title: 'Guildhall',
      version: '1.2.3',
      description: expect.any(String),
    })
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('[H-PUB-8] holds every route, the dashboard and itself, and nothing else', () => {
    const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    const table = routes.map(([, { path, method }]) => `${method} ${path}`)
    const documents = ['GET /dashboard', 'GET /openapi.json']
    expect(described.toSorted()).toEqual([...table, ...documents].toSorted())
  })

  it.each(routes)('[H-PUB-8] says of %s who may call it and how it is recorded', (name, route) => {
    const operation = operationOf(route)
    expect(operation.operationId).toBe(name)
    expect(operation['x-access']).toBe(route.access)
    expect(operation['x-scope']).toBe(route.scope)
    expect(operation['x-audit']).toBe(route.audit)
    const scheme = { public: undefined, player: 'player', operator: 'operator', admin: 'operator' }[
      route.access
    ]
    expect(operation.security).toEqual(scheme && [{ [scheme]: [] }])
    if (scheme !== undefined)
      expect(Object.keys(description.components.securitySchemes)).toContain(scheme)
  })

  it.each(routes)('[H-PUB-8] lists for %s every status and code', (_name, route) => {
    const { responses } = operationOf(route)
    const isEmpty = route.ok === undefined && route.file !== true
    const success = [route.status ?? (isEmpty ? 204 : 200)].flat()
    const statuses = new Set([
      ...success,
      400,
      500,
      ...(route.access === 'public' ? [] : [401]),
      ...(route.access === 'operator' || route.access === 'admin' ? [403] : []),
      ...(isMutation(route) ? [409] : []),
      ...(route.errors ?? []).map((code) => errorTable[code].status),
    ])
    expect(Object.keys(responses)).toEqual([...statuses].map(String).toSorted())
    for (const [status, response] of Object.entries(responses)) {
      if (success.includes(Number(status) as never)) continue
      expect(response.content).toEqual({
        'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      })
      expect(response.headers !== undefined).toBe(status === '429')
    }
  })

  it.each(routes)('[H-PUB-8] lists for %s its parameters and body', (_name, route) => {
    const { parameters = [], requestBody } = operationOf(route)
    const named = (place: string) =>
      parameters.filter((each) => each.in === place).map(({ name }) => name)
    expect(named('path')).toEqual(Object.keys(route.params?.shape ?? {}))
    expect(named('query')).toEqual(Object.keys(route.query?.shape ?? {}))
    for (const { name, in: place, required } of parameters) {
      if (place === 'path') expect(required).toBe(true)
      if (place === 'query')
        expect([name, required]).toEqual([
          name,
          route.query?.shape[name]?.safeParse(undefined).success === false,
        ])
    }
    expect(requestBody?.required).toBe(route.body && route.bodyNeeded !== 'optional')
    if (route.body !== undefined) {
      expect(requestBody?.content['application/json'].schema).toMatchObject({
        type: 'object',
        additionalProperties: false,
      })
    }
  })

  it('[H-PUB-8] lists the bounds that the server checks with', () => {
    const body = operationOf(api.signIn.email).requestBody?.content['application/json'].schema
    expect(body).toMatchObject({
      required: ['email', 'password'],
      properties: {
        email: { type: 'string', maxLength: 254 },
        password: { minLength: 8, maxLength: 1024 },
        username: { anyOf: [{ minLength: 1, maxLength: 128 }, { type: 'null' }] },
        metadata: { anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }] },
      },
    })
    const [limit] = operationOf(api.audit.list).parameters ?? []
    expect(limit).toMatchObject({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
    })
  })

  it('[H-PUB-8] has JSON Schema only: no leftovers, no reference that leads nowhere', () => {
    const known = new Set([
      'type',
      'properties',
      'required',
      'additionalProperties',
      'items',
      'anyOf',
      'enum',
      'const',
      'default',
      'description',
      'format',
      'pattern',
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'minimum',
      'maximum',
      'propertyNames',
      '$ref',
    ])
    const schemas = [...schemasIn(sent)]
    expect(schemas.length).toBeGreaterThan(100)
    for (const schema of schemas) {
      expect(Object.keys(schema).filter((name) => !known.has(name))).toEqual([])
      expect(Object.keys(schema).length).toBeGreaterThan(0)
      if (typeof schema.$ref === 'string') expect(schema.$ref).toBe('#/components/schemas/Error')
    }
    expect(JSON.stringify(sent)).not.toMatch(
      /jsonSchema|"free"|"~standard"|\$schema|"_zod"|undefined/,
    )
  })
})
