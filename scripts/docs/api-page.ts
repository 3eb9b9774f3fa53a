import { api, errorTable, type Route } from '@guildhall/contract'

/** The part of the API's description that the page is made from. */
export type Description = {
  paths: Record<string, Record<string, Operation>>
}

type Operation = {
  parameters?: {
    name: string
    in: string
    required: boolean
    schema: Schema
    description?: string
  }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content?: Partial<Content> }>
}

type Content = { 'application/json': { schema: Schema } }

/** As much of JSON Schema as the description uses. */
type Schema = {
  type?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  maxItems?: number
  minimum?: number
  maximum?: number
}

/** The reference page of all routes, docs/api.md, as it follows from the table. */
export function renderApiPage(description: Description): string {
  const features = Object.entries(api).map(([feature, routes]) => {
    const sections = Object.values(routes).map((route) => renderRoute(route, description))
    return [`## ${titleOf(feature)}`, ...sections].join('\n\n')
  })
  return `${[introduction, renderErrors(), renderIndex(), ...features].join('\n\n')}\n`
}

const introduction = `# HTTP API

<!-- Generated from packages/contract/src/routes; run \`npm run docs\`. -->

Bodies are JSON in UTF-8. Sizes of texts are bytes of UTF-8, times are Unix milliseconds. Unknown
fields, unknown and repeated query parameters are refused. Beside the statuses that stand at a
route, every route may answer 400 and 500, routes for players 401, and routes for operators 401 and
403. The same table as OpenAPI 3.1 is [openapi.json](openapi.json), which a node also serves at
\`/openapi.json\`.

Access is one of: **public**, no credential; **player**, the access token of a player; **operator**,
a console token of any role, or an API key with the scope; **admin**, a console token of an
admin. Mutations for admins are audited, and take an \`Idempotency-Key\`: the same key with the same
request within 24 hours changes nothing again and gets the same answer.`

function renderErrors(): string {
  const rows = Object.entries(errorTable).map(([code, { status, message, text }]) => {
    const seen = text === 'open' ? `${message}, or the rule that was broken` : message
    return `| ${status} | \`${code}\` | ${seen} |`
  })
  const form = 'Every error is `{"code": ..., "message": ...}`. 429 comes with `Retry-After`.'
  return `## Errors\n\n${form}\n\n${table(['Status', 'Code', 'Message'], rows)}`
}

function renderIndex(): string {
  const rows = Object.values(api).flatMap((routes) =>
    Object.values(routes).map((route: Route) => {
      const { method, path, access, scope = '', audit = '' } = route
      return `| [${method} ${path}](#${anchorOf(route)}) | ${access} | ${scope} | ${audit} |`
    }),
  )
  return ['## Routes', '', '| Route | Access | Scope | Audit |', '|---|---|---|---|', ...rows].join(
    '\n',
  )
}

function renderRoute(route: Route, { paths }: Description): string {
  const { method, path, access, scope, audit, summary } = route
  const operation = paths[path]?.[method.toLowerCase()]
  if (operation === undefined) throw new Error(`${method} ${path} is not described`)
  const facts = [
    access,
    ...(scope === undefined ? [] : [`scope \`${scope}\``]),
    ...(audit === undefined ? [] : [`audited as \`${audit}\``]),
  ]
  return [
    `### ${method} ${path}`,
    `${summary}. Access: ${facts.join(', ')}.`,
    ...renderParameters(operation),
    ...renderBody(operation),
    renderAnswers(operation),
  ].join('\n\n')
}

function renderParameters({ parameters = [] }: Operation): string[] {
  const rows = parameters
    .filter((each) => each.in !== 'header')
    .map(({ name, in: place, required, schema }) => row(name, place, schema, required))
  return rows.length === 0 ? [] : [table(['Parameter', 'In', 'Value', 'Rule'], rows)]
}

function renderBody({ requestBody }: Operation): string[] {
  if (requestBody === undefined) return []
  const { schema } = requestBody.content['application/json']
  const note = requestBody.required ? '' : '\n\nThe body may be missing.'
  return [table(['Field', 'Value', 'Rule'], fieldsOf(schema)) + note]
}

function renderAnswers({ responses }: Operation): string {
  const successes = Object.entries(responses).filter(
    ([, { description }]) => !description.startsWith('`'),
  )
  const statuses = successes.map(([status]) => status).join(' or ')
  const refusals = Object.entries(responses)
    .filter(
      ([status, { description }]) => description.startsWith('`') && !/^(400|500)$/.test(status),
    )
    .map(([status, { description }]) => `${status} ${description}`)
  const seen = refusals.length === 0 ? '' : ` Refusals: ${refusals.join(', ')}.`
  const [schema] = successes.flatMap(
    ([, { content }]) => content?.['application/json']?.schema ?? [],
  )
  const isFile = successes.some(
    ([, { content }]) => content && 'application/octet-stream' in content,
  )
  if (isFile) return `Answer: ${statuses}, the bytes of a file.${seen}`
  if (schema === undefined) return `Answer: ${statuses}, without a body.${seen}`
  return `Answer: ${statuses}.${seen}\n\n${table(['Field', 'Value', 'Rule'], fieldsOf(schema))}`
}

/** One row per field, those of nested objects by their path: `entries[].actor`. */
function fieldsOf(schema: Schema, path = ''): string[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((each) => fieldsOf(each, path))
  if (schema.items !== undefined) return fieldsOf(schema.items, `${path}[]`)
  if (typeof schema.additionalProperties === 'object')
    return fieldsOf(schema.additionalProperties, `${path}.*`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const own = path === '' ? name : `${path}.${name}`
    return [
      row(own, undefined, member, schema.required?.includes(name) === true),
      ...fieldsOf(member, own),
    ]
  })
}

function row(name: string, place: string | undefined, schema: Schema, required: boolean): string {
  const cells = [
    `\`${name}\``,
    ...(place === undefined ? [] : [place]),
    shapeOf(schema) + (required ? '' : ', optional'),
    ruleOf(schema),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function table(heads: readonly string[], rows: readonly string[]): string {
  const head = `| ${heads.join(' | ')} |`
  return [head, `|${heads.map(() => '---|').join('')}`, ...new Set(rows)].join('\n')
}

function shapeOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(shapeOf).join(' or ')
  if (schema.enum !== undefined) return schema.enum.map((each) => `\`${String(each)}\``).join(', ')
  if (schema.const !== undefined) return `\`${String(schema.const)}\``
  if (schema.items !== undefined) return `list of ${shapeOf(schema.items)}`
  return schema.type ?? 'any'
}

function ruleOf(schema: Schema): string {
  const inner = schema.anyOf?.find(({ type }) => type !== 'null')
  const { description, minimum, maximum, maxLength, maxItems } = schema
  const high = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  const facts = [
    description ?? (inner === undefined ? undefined : ruleOf(inner)) ?? schema.items?.description,
    description === undefined && maxLength !== undefined ? `at most ${maxLength} bytes` : undefined,
    minimum === undefined && high === undefined ? undefined : `${minimum ?? ''}..${high ?? ''}`,
    maxItems === undefined ? undefined : `at most ${maxItems}`,
    schema.default === undefined ? undefined : `default ${String(schema.default)}`,
  ]
  return facts.filter((fact) => fact !== undefined && fact !== '').join('; ')
}

/** `signIn` is "Sign in". */
function titleOf(feature: string): string {
  const words = feature.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** As the renderers of Markdown make them of headings. */
function anchorOf({ method, path }: Route): string {
  return `${method} ${path}`
    .toLowerCase()
    .replace(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')
}
