import { describe } from 'vitest'
import { auditTests } from './testing/scenarios/audit.browser.ts'
import { carelessTests } from './testing/scenarios/careless.browser.ts'
import { dayTests } from './testing/scenarios/day.browser.ts'
import { exportTests } from './testing/scenarios/exports.browser.ts'
import { findingTests } from './testing/scenarios/finding.browser.ts'
import { keyboardTests } from './testing/scenarios/keyboard.browser.ts'
import { lagTests } from './testing/scenarios/lag.browser.ts'
import { liveTests } from './testing/scenarios/live.browser.ts'
import { narrowingTests } from './testing/scenarios/narrowing.browser.ts'
import { realStoreTests } from './testing/scenarios/real-store.browser.ts'
import { restartTests } from './testing/scenarios/restart.browser.ts'
import { roomTests } from './testing/scenarios/rooms.browser.ts'
import { sectionTests } from './testing/scenarios/sections.browser.ts'
import { sessionTests } from './testing/scenarios/sessions.browser.ts'
import { signInTests } from './testing/scenarios/sign-in.browser.ts'
import { sizeTests } from './testing/scenarios/size.browser.ts'
import { troubleTests } from './testing/scenarios/trouble.browser.ts'
import { viewTests } from './testing/scenarios/views.browser.ts'
import { watchingTests } from './testing/scenarios/watching.browser.ts'
import { describeInBrowser } from './testing/stage.ts'

// All in one file, so that they share a browser, its nodes and what was stored in them.
await describeInBrowser(({ memory, live }) => {
  describe('signing in', () => signInTests(memory))
  describe('the sections', () => sectionTests(memory))
  describe('sessions of players', () => sessionTests(memory))
  describe('the views', () => viewTests(live))
  describe('finding', () => findingTests(live))
  describe('narrowing', () => narrowingTests(live))
  describe('watching', () => watchingTests(live))
  describe('by keyboard', () => keyboardTests(live))
  describe('a running game', () => liveTests(live))
  describe('rooms that are handled', () => roomTests(live))
  describe('a day', () => dayTests(live))
  describe('lag diagnostics', () => lagTests(live))
  describe('the audit trail', () => auditTests(live))
  describe('exports and imports', () => exportTests(memory, live))
  describe('huge', () => sizeTests(memory))
  describe('a store of years', () => realStoreTests(memory))
  describe('in trouble', () => troubleTests(memory))
  describe('a careless operator', () => carelessTests(memory))
  describe('a node that restarts', () => restartTests(memory))
})
