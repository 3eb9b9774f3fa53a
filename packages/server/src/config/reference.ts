import { writeFileSync } from 'node:fs'
import type { Key } from './key.ts'
import { describeDefault } from './redact.ts'
import { keys, schema } from './schema.ts'
import { environmentName } from './sources/environment.ts'
import { allowedBy, isSecret } from './values/values.ts'

/** The reference page of all keys, docs/configuration.md, as it follows from the schema. */
export function renderReference(): string {
  const parts = [introduction, ...Object.keys(schema).map(renderSection)]
  return `${parts.join('\n\n')}\n`
}

export const referenceFile = new URL('../../../../docs/configuration.md', import.meta.url)

const introduction = `# Configuration

<!-- Generated from packages/server/src/config/sections; run \`npm run docs:configuration\`. -->

A node reads its configuration once, when it starts. Each key is taken from the highest of these
sources that sets it:

1. flags: \`--bind\`, \`--log-level\`, \`--node-id\` and \`--set KEY=VALUE\`;
2. the environment: \`http.bind\` is \`${environmentName('http.bind')}\`;
3. a TOML file: the one of \`--config\`, else of \`GUILDHALL_CONFIG\`, else \`guildhall.toml\`
   in the working directory;
4. the defaults of this page.

Types are strict and bounds inclusive; a value outside them refuses the start. In the environment
and in flags, booleans are \`true\` or \`false\`, integers decimal, lists comma separated or a JSON
array, and lists of tables JSON. An empty variable counts as not set. Relative paths in the file
start at the folder of the file, others at the working directory.

Keys marked *secret* can also be read from a file: \`url_file\` in TOML,
\`${environmentName('database.url')}_FILE\` in the environment. Flags cannot set them.
\`guildhall check --print\` shows the merged configuration, without secrets, and where each value
came from.`

function renderSection(section: string): string {
  const prefix = `${section}.`
  const rows = [...keys]
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, key]) => renderRow(name.slice(prefix.length), key))
  return [`## ${section}`, '', '| Key | Default | Allowed | |', '|---|---|---|---|', ...rows].join(
    '\n',
  )
}

function renderRow(shown: string, key: Key): string {
  const value = describeDefault(key)
  const cells = [
    `\`${shown}\``,
    value === undefined ? '-' : `\`${value}\``,
    allowedBy(key) + (isSecret(key) ? ' (*secret*)' : ''),
    key.doc,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

if (import.meta.main) writeFileSync(referenceFile, renderReference())
