import { registerHooks } from 'node:module'
import { takeContext } from './test-context.ts'

/**
 * Loaded before each test file, in its process: from here on `guildhall/test` names the module that
 * opens games, wherever the test file lies.
 */
const opener = new URL('./open-game.ts', import.meta.url).href

takeContext(import.meta.url)
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'guildhall/test' ? next(opener, context) : next(specifier, context),
})
