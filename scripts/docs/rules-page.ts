import type { Source } from '../checks/sources.ts'
import { readRules, testFolders } from '../rules/rules.ts'

const introduction = `# Rules

What the product promises, one sentence for each rule. Tests begin with the id of the rule that
they hold, and commits cite it. The last column names the folders with such tests; search there for
the id to find them. A rule without a folder has no test yet: most of them belong to what is still
to come.

This page is made from \`scripts/rules/rules.txt\` by \`npm run docs\`.
`

/** The page of the rules, with the folders of the tests that hold each. */
export function renderRulesPage(files: readonly Source[]): string {
  const folders = testFolders(files)
  const lines = [introduction]
  let area: string | undefined
  for (const rule of readRules()) {
    if (rule.area !== area) {
      area = rule.area
      lines.push(`## ${area}\n`, '| Rule | What holds | Tests |', '| --- | --- | --- |')
    }
    lines.push(`| ${rule.id} | ${rule.sentence} | ${links(folders.get(rule.id))} |`)
  }
  return `${lines.join('\n').replaceAll(/\n## /g, '\n\n## ')}\n`
}

function links(folders: ReadonlySet<string> | undefined): string {
  return [...(folders ?? [])]
    .sort()
    .map((folder) => `[${shortName(folder)}](../${folder})`)
    .join(', ')
}

/** `packages/server/src/features/wallet` is `features/wallet`. */
function shortName(folder: string): string {
  return folder.replace(/^packages\/server\/src\/?/, '').replace(/^packages\//, '') || 'server'
}
