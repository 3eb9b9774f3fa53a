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
  /** Nobody is signed in yet. */
  stranger?: boolean
}

/** Where operators work: what is asked of whoever sits there, as a test needs it. */
export type Desk = {
  (
    work: (operator: Operator) => Promise<void>,
    options?: OperatorOptions & {
      /** In a browser of its own, where the test changes what stays: its clock, say. */
      alone?: boolean
    },
  ): Promise<void>
  /** Everybody leaves who stayed. */
  close(): Promise<void>
}

/** Opens a browser of its own state, in which somebody is signed in already. */
export async function signedIn(
  browser: Browser,
  node: ServedNode,
  { as = admin, width, stranger = false }: OperatorOptions = {},
): Promise<Operator> {
  const context = await browser.newContext({
    viewport: sizeOf(width),
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  if (!stranger) await context.addInitScript(keepSession(await node.sessionOf(as)))
  const page = await context.newPage()
  page.setDefaultTimeout(25_000)
  const complaints: string[] = []
  listen(page, complaints)
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

function listen(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || /content security policy/i.test(message.text())) {
      complaints.push(message.text())
    }
  })
  page.on('pageerror', (error) => complaints.push(error.message))
}

/**
 * Who works here stays at the page for the test that comes next: a page that is begun anew is a
 * process of the browser. `rest` takes away what a test left there, and refuses what it cannot
 * take away. A failure comes with what the page showed.
 */
export function openDesk(browser: Browser, node: ServedNode): Desk {
  const resting = new Map<string, Operator>()

  async function desk(...[work, { alone = false, ...options } = {}]: Parameters<Desk>) {
    const { as = admin, width, stranger = false } = options
    const isKept = !alone && !stranger
    const kept = isKept ? resting.get(as.username) : undefined
    if (isKept) resting.delete(as.username)
    const operator = kept ?? (await signedIn(browser, node, options))
    if (isKept && kept === undefined) refuseScripts(operator)
    try {
      if (kept !== undefined) await kept.page.setViewportSize(sizeOf(width))
      await work(operator)
      if (isKept) await rest(operator, node)
    } catch (error) {
      const message = `${String(error)}\n${await shown(operator)}`
      await operator.leave()
      throw new Error(message, { cause: error })
    }
    if (!isKept) return operator.leave()
    resting.set(as.username, operator)
  }

  async function close(): Promise<void> {
    const operators = [...resting.values()]
    resting.clear()
    await Promise.all(operators.map((operator) => operator.leave()))
  }

  return Object.assign(desk, { close })
}

/** What a test may listen to: the end of a page is listened to by the browser's own library. */
const heard = [
  ...['console', 'dialog', 'domcontentloaded', 'download', 'filechooser', 'framenavigated'],
  ...['load', 'pageerror', 'popup', 'request', 'requestfailed', 'requestfinished', 'response'],
  ...['websocket', 'worker'],
]

/** Leaves the dashboard for a document that does nothing, of the same origin and process. */
async function rest(operator: Operator, { url }: ServedNode): Promise<void> {
  const { page, context, complaints } = operator
  if (context.pages().length > 1) throw new Error('a further page was left open')
  for (const event of heard) page.removeAllListeners(event)
  await context.unrouteAll({ behavior: 'ignoreErrors' })
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.goto(`${url}/health/live`)
  if (await page.evaluate<boolean>('"__pwClock" in window')) throw new Error(forAlone)
  await page.evaluate('localStorage.clear(), sessionStorage.clear()')
  await page.emulateMedia({ colorScheme: 'light' })
  complaints.length = 0
  listen(page, complaints)
}

const forAlone = 'scripts and clocks stay in a page: the test works `alone`'

/** What runs at the start of every document cannot be taken back. */
function refuseScripts({ page, context }: Operator): void {
  const refuse = () => Promise.reject(new Error(forAlone))
  page.addInitScript = refuse
  context.addInitScript = refuse
}

async function shown({ page, complaints }: Operator): Promise<string> {
  const tree = await page.locator('main').ariaSnapshot({ timeout: 1000 }).catch(String)
  return [`the page at ${page.url()}:`, tree.slice(0, 2000), ...complaints].join('\n')
}

function sizeOf(width = 1440) {
  return { width, height: width < 500 ? 844 : 900 }
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
