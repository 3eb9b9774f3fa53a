import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../docs/decisions')
const columnsMax = 100
const wordsMax = 25

describe.each(readdirSync(folder))('the decision %s', (file) => {
  const text = readFileSync(join(folder, file), 'utf8')
  const prose = proseOf(text)

  it('has its number, date, status and three parts', () => {
    expect(file).toMatch(/^\d{4}-[a-z0-9-]+\.md$/)
    expect(text).toMatch(new RegExp(`^# ${file.slice(0, 4)} \\S.*\n\nDate: 20\\d\\d-\\d\\d-\\d\\d`))
    expect(text).toMatch(/^Date: \S+\. Status: (accepted|replaced by \[\d{4}\]\(\S+\))\.$/m)
    const parts = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(parts.slice(0, 2)).toEqual(['Context', 'Decision'])
    expect(parts).toContain('Consequences')
  })

  it(`has at most ${columnsMax} columns`, () => {
    expect(prose.split('\n').filter((line) => line.length > columnsMax)).toEqual([])
  })

  it(`has sentences of at most ${wordsMax} words`, () => {
    expect(sentencesOf(prose).filter((sentence) => sentence.split(' ').length > wordsMax)).toEqual(
      [],
    )
  })
})

/** Without tables, code and headings. */
function proseOf(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '').replace(/^[|#].*$/gm, '')
}

/** A colon or a semicolon ends a sentence as a full stop does. */
function sentencesOf(prose: string): string[] {
  return prose.split(/\n\s*\n|(?:\n|^)\s*(?:-|\d+\.) /).flatMap((block) =>
    block
      .replace(/\s+/g, ' ')
      .trim()
      .split(/(?<=[.:;?!]) /),
  )
}
