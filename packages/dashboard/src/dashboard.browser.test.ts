import { describe } from 'vitest'
import { auditTests } from './testing/audit.browser.ts'
import { keyboardTests } from './testing/keyboard.browser.ts'
import { liveTests } from './testing/live.browser.ts'
import { realStoreTests } from './testing/real-store.browser.ts'
import { restartTests } from './testing/restart.browser.ts'
import { sectionTests } from './testing/sections.browser.ts'
import { sessionTests } from './testing/sessions.browser.ts'
import { signInTests } from './testing/sign-in.browser.ts'
import { sizeTests } from './testing/size.browser.ts'
import { describeInBrowser } from './testing/stage.ts'
import { troubleTests } from './testing/trouble.browser.ts'
import { viewTests } from './testing/views.browser.ts'

// All in one file, so that they share a browser, its nodes and what was stored in them.
await describeInBrowser(({ memory, live }) => {
  describe('signing in', () => signInTests(memory))
  describe('the sections', () => sectionTests(memory))
  describe('sessions of players', () => sessionTests(memory))
  describe('the views', () => viewTests(live))
  describe('by keyboard', () => keyboardTests(live))
  describe('a running game', () => liveTests(live))
  describe('the audit trail', () => auditTests(live))
  describe('huge', () => sizeTests(memory))
  describe('a store of years', () => realStoreTests(memory))
  describe('in trouble', () => troubleTests(memory))
  describe('a node that restarts', () => restartTests(memory))
})
