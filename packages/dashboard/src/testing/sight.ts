import type { Locator } from 'playwright-core'
import { expect } from 'vitest'

/** Holds that it is within the window as a whole and under nothing else, without scrolling. */
export async function expectInSight(locator: Locator): Promise<void> {
  await locator.waitFor()
  const page = locator.page()
  const { width = 0, height = 0 } = page.viewportSize() ?? {}
  const box = (await locator.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 }
  const [right, bottom] = [box.x + box.width, box.y + box.height]
  const isWithin = box.x >= 0 && box.y >= 0 && right <= width && bottom <= height
  expect([isWithin, box]).toEqual([true, box])
  const middle = `${box.x + box.width / 2}, ${box.y + box.height / 2}`
  const text = await page.evaluate<string>(`document.elementFromPoint(${middle})?.textContent`)
  expect(text).toBe(await locator.textContent())
}
