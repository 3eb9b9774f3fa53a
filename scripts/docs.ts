import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderPages } from './docs/pages.ts'

/** `npm run docs` writes what follows from the code; with `--check` it only compares. */

const folder = join(import.meta.dirname, '../docs')
const isCheck = process.argv.includes('--check')

for (const [file, content] of Object.entries(renderPages())) {
  const path = join(folder, file)
  if (!isCheck) {
    writeFileSync(path, content)
  } else if (readFileSync(path, 'utf8') !== content) {
    process.stderr.write(`docs/${file} is not current: run \`npm run docs\`\n`)
    process.exitCode = 1
  }
}
