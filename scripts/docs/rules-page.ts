import { readRules } from '../rules/rules.ts'

const introduction = `# Rules

What the product promises, one sentence for each rule. Tests begin with the id of the rule that
they hold, and commits cite it. \`npm run rules\` prints the folders with the tests of each rule,
\`npm run rules H-GEN-1\` those of one; a few have none.

This page is made from \`scripts/rules/rules.txt\` by \`npm run docs\`.
`

/** The page of the rules. */
export function renderRulesPage(): string {
  const lines = [introduction]
  let area: string | undefined
  for (const rule of readRules()) {
    if (rule.area !== area) {
      area = rule.area
      lines.push(`## ${area}\n`, '| Rule | What holds |', '| --- | --- |')
    }
    lines.push(`| ${rule.id} | ${rule.sentence} |`)
  }
  return `${lines.join('\n').replaceAll(/\n## /g, '\n\n## ')}\n`
}
