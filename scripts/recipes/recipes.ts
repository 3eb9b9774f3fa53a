/** One block of the recipes: a change of a file, or the whole of a new one. */
export type Block = {
  /** The heading that it stands under, e.g. `A route`. */
  readonly recipe: string
  readonly path: string
  readonly isChange: boolean
  readonly text: string
}

const section = /^## Recipes\n([\s\S]*?)(?=^## )/m
const block = /^```(\w+) (\S+)\n([\s\S]*?)^```$/gm

/** The blocks of `## Recipes`, in their order. */
export function readRecipes(page: string): readonly Block[] {
  const recipes = section.exec(page)?.[1] ?? ''
  return recipes.split(/^### /m).flatMap((part) => {
    const recipe = part.split('\n', 1)[0] ?? ''
    return [...part.matchAll(block)].map(([, language, path = '', text = '']) => {
      return { recipe, path, isChange: language === 'diff', text }
    })
  })
}

/**
 * The file with the change in it.
 *
 * @throws when the lines that the change names are not there, or stand there more than once
 */
export function applyChange(file: string, { path, text }: Block): string {
  const lines = text.trimEnd().split('\n')
  const without = (sign: string) =>
    lines
      .filter((line) => !line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('')
  const before = without('+')
  const found = `\n${file}`.split(`\n${before}`)
  if (found.length !== 2) throw new Error(`${path} has ${found.length - 1} times:\n${before}`)
  return found.join(`\n${without('-')}`).slice(1)
}
