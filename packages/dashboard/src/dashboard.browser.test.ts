import { describe } from 'vitest'
import { sectionTests } from './sections.browser.ts'
import { signInTests } from './sign-in.browser.ts'
import { sizeTests } from './size.browser.ts'
import { describeInBrowser } from './testing/stage.ts'
import { troubleTests } from './trouble.browser.ts'
import { viewTests } from './views.browser.ts'

// All in one file, so that they share a browser, its nodes and what was stored in them.
await describeInBrowser(({ memory, live }) => {
  describe('signing in', () => signInTests(memory))
  describe('the sections', () => sectionTests(memory))
  describe('the views', () => viewTests(live))
  describe('huge and by keyboard', () => sizeTests(memory))
  describe('in trouble', () => troubleTests(memory))
})
