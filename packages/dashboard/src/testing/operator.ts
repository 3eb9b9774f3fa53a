import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { admin } from './served-node.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')

/** Somebody at the dashboard, with everything that the browser complained about. */
export type Operator = {
  page: Page
  context: BrowserContext
  /** Console errors, exceptions and violations of the policy. */
  complaints: string[]
  /** Goes to a view by its path below `/dashboard`. */
  open(path: string): Promise<void>
  /** What axe-core finds on the page as it is, by all rules or only some. */
  violations(rules?: readonly string[]): Promise<string[]>
  leave(): Promise<void>
}

type SignIn = { username: string; password: string }
type Options = { as?: SignIn; width?: number; dark?: boolean }

/** Signs in at `url` in a browser of its own state. */
export async function signedIn(
  browser: Browser,
  url: string,
  { as = admin, width = 1440, dark = false }: Options = {},
): Promise<Operator> {
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 844 : 900 },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || /content security policy/i.test(message.text())) {
      complaints.push(message.text())
    }
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`${url}/dashboard`)
  await fillSignIn(page, as)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return {
    page,
    context,
    complaints,
    open: async (path) => void (await page.goto(`${url}/dashboard${path}`)),
    violations: (rules) => axeViolations(page, rules),
    leave: () => context.close(),
  }
}

export async function fillSignIn(page: Page, { username, password }: SignIn): Promise<void> {
  await page.getByLabel('Operator').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

type AxeResult = {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axeSource)
  const options = rules === undefined ? '{}' : JSON.stringify({ runOnly: rules })
  const { violations } = await page.evaluate<AxeResult>(`axe.run(document, ${options})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}\n${failureSummary}`),
  )
}
