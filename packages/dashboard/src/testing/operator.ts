import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { admin, type Credentials, type ServedNode } from './served-node.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')

/** Somebody at the dashboard, with everything that the browser complained about. */
export type Operator = {
  page: Page
  context: BrowserContext
  /** Console errors, exceptions and violations of the policy. */
  complaints: string[]
  /** Goes to a view by its path below `/dashboard`. */
  open(path: string): Promise<void>
  /** What axe-core finds on the page as it is; by its rules about colours alone, if so asked. */
  violations(about?: 'all' | 'colours'): Promise<string[]>
  leave(): Promise<void>
}

export type OperatorOptions = {
  as?: Credentials
  width?: number
  dark?: boolean
  /** Nobody is signed in yet. */
  stranger?: boolean
}

/** Opens a browser of its own state, in which somebody is signed in already. */
export async function signedIn(
  browser: Browser,
  node: ServedNode,
  { as = admin, width = 1440, dark = false, stranger = false }: OperatorOptions = {},
): Promise<Operator> {
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 844 : 900 },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  if (!stranger) await context.addInitScript(keepSession(await node.sessionOf(as)))
  const page = await context.newPage()
  page.setDefaultTimeout(25_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || /content security policy/i.test(message.text())) {
      complaints.push(message.text())
    }
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return {
    page,
    context,
    complaints,
    open: async (path) => void (await page.goto(`${node.url}/dashboard${path}`)),
    violations: (about = 'all') => axeViolations(page, about),
    async leave() {
      // What a test answers in the node's place may still be on its way.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    },
  }
}

/** Works as an operator who then leaves; a failure tells what the page showed. */
export async function withOperator(
  browser: Browser,
  node: ServedNode,
  work: (operator: Operator) => Promise<void>,
  options?: OperatorOptions,
): Promise<void> {
  const operator = await signedIn(browser, node, options)
  try {
    await work(operator)
  } catch (error) {
    throw new Error(`${String(error)}\n${await shown(operator)}`, { cause: error })
  } finally {
    await operator.leave()
  }
}

async function shown({ page, complaints }: Operator): Promise<string> {
  const tree = await page.locator('main').ariaSnapshot({ timeout: 1000 }).catch(String)
  return [`the page at ${page.url()}:`, tree.slice(0, 2000), ...complaints].join('\n')
}

/** As beside another tab in which somebody has signed in. */
function keepSession(session: string): string {
  return `if (location.protocol.startsWith('http')) {
    const tab = new BroadcastChannel('guildhall-session')
    tab.onmessage = ({ data }) => data === 'who?' && tab.postMessage(${session})
  }`
}

export async function fillSignIn(page: Page, { username, password }: Credentials): Promise<void> {
  await page.getByLabel('Operator').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

type AxeResult = {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

async function axeViolations(page: Page, about: 'all' | 'colours'): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeSource)
  const rules = about === 'all' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] }
  const options = JSON.stringify({ ...rules, resultTypes: ['violations'] })
  const { violations } = await page.evaluate<AxeResult>(`axe.run(document, ${options})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}\n${failureSummary}`),
  )
}
