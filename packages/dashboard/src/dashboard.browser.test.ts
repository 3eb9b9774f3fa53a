import { describe } from 'vitest'
import { sectionTests } from './testing/sections.browser.ts'
import { signInTests } from './testing/sign-in.browser.ts'
import { sizeTests } from './testing/size.browser.ts'
import { describeInBrowser } from './testing/stage.ts'
import { troubleTests } from './testing/trouble.browser.ts'
import { viewTests } from './testing/views.browser.ts'

// All in one file, so that they share a browser, its nodes and what was stored in them.
await describeInBrowser(({ memory, live }) => {
  describe('signing in', () => signInTests(memory))
  describe('the sections', () => sectionTests(memory))
  describe('the views', () => viewTests(live))
  describe('huge and by keyboard', () => sizeTests(memory))
  describe('in trouble', () => troubleTests(memory))
})
