/** A language that a game's script can be begun in: a folder of `templates`. */
export type LanguageOfGame = {
  readonly name: string
  readonly aliases: readonly string[]
  /** Packages that a project needs for it, beside those of every project, with their versions. */
  readonly packages: Readonly<Record<string, string>>
}

/** The first one is the default. */
export const gameLanguages: readonly LanguageOfGame[] = [
  { name: 'typescript', aliases: ['ts'], packages: {} },
  { name: 'lua', aliases: [], packages: { wasmoon: '1.16.0' } },
  { name: 'python', aliases: ['py'], packages: { pyodide: '314.0.7' } },
]

/** The language of a name or an alias; undefined when there is none. */
export function languageNamed(name: string): LanguageOfGame | undefined {
  return gameLanguages.find((language) => [language.name, ...language.aliases].includes(name))
}
