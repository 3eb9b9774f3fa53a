export { gameLanguages, type LanguageOfGame, languageNamed } from './languages.ts'
export { CannotWrite, writeGame } from './write.ts'
