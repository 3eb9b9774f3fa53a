import type { FeatureNames } from './names.ts'

/** A line of a file that is there, next to one that is like `near`. */
export type NewLine = {
  readonly path: string
  readonly near: RegExp
  readonly side: 'before' | 'behind'
  readonly line: string
}

/** The lines by which the tree knows a feature; without any of them it does not compile. */
export function featureLines(names: FeatureNames, migration: number): readonly NewLine[] {
  const { kebab, camel, pascal, snake } = names
  const contract = 'packages/contract/src/index.ts'
  const api = 'packages/contract/src/routes/api.ts'
  const server = 'packages/server/src'
  const migrations = `${server}/database/migrations/index.ts`
  const tables = `${server}/database/tables/index.ts`
  const features = `${server}/node/features/features.ts`
  const file = `${String(migration).padStart(4, '0')}-${kebab}`
  return [
    behind(contract, /^export \{.*from '\.\/routes\/wallet/, exported(names)),
    behind(api, /^import .* from '\.\/wallet/, imported(names)),
    before(api, /^ {2}realtime: realtimeApi/, `  ${camel}: ${camel}Api,`),
    ...['create', 'delete'].map((action) =>
      behind(
        'packages/contract/src/routes/audit-actions.ts',
        /^ {2}'notifications\.delete'/,
        `  '${snake}.${action}',`,
      ),
    ),
    ...pins(names),
    behind(tables, /^import \* as groups/, `import * as ${camel} from './${kebab}.ts'`),
    behind(tables, /^ {2}\.\.\.groups,/, `  ...${camel},`),
    before(migrations, /^import type/, `import { ${camel} } from './${file}.ts'`),
    before(migrations, /^\]/, `  ${camel},`),
    behind(
      features,
      /groups\.feature\.ts'$/,
      `import { ${camel}Feature } from '../../features/${kebab}/${kebab}.feature.ts'`,
    ),
    behind(features, /^ {4}groups: groupsFeature/, `    ${camel}: ${camel}Feature(base),`),
  ].map((line) => ({ ...line, line: line.line.replaceAll('PASCAL', pascal) }))
}

function exported({ kebab, camel }: FeatureNames): string {
  return `export { PASCALItem, ${camel}Api } from './routes/${kebab}.ts'`
}

function imported({ kebab, camel }: FeatureNames): string {
  return `import { ${camel}Api } from './${kebab}.ts'`
}

/** The frozen list of routes, which says no to one that nobody meant to add. */
function pins({ kebab, camel, snake }: FeatureNames): readonly NewLine[] {
  const path = `/console/v1/${kebab}`
  return [
    `${camel}.list | GET ${path} | operator | no key | - | 200 | -`,
    `${camel}.create | POST ${path} | admin | - | ${snake}.create | 201 | -`,
    `${camel}.delete | DELETE ${path}/{id} | admin | - | ${snake}.delete | 204 | not_found`,
  ].map((pin) =>
    before('packages/contract/src/pins.test.ts', /^ {2}'realtime\.connect/, `  '${pin}',`),
  )
}

function before(path: string, near: RegExp, line: string): NewLine {
  return { path, near, side: 'before', line }
}

function behind(path: string, near: RegExp, line: string): NewLine {
  return { path, near, side: 'behind', line }
}

/** The text with the line in its place; undefined when there is no such place. */
export function insertLine(text: string, { near, side, line }: NewLine): string | undefined {
  const lines = text.split('\n')
  const at = lines.findIndex((each) => near.test(each))
  if (at === -1) return undefined
  lines.splice(side === 'before' ? at : at + 1, 0, line)
  return lines.join('\n')
}
