/** How handlers end in every language, as data: what they call is in the runners (runners.ts). */

type Call = readonly [name: string, args: readonly unknown[]]

/** An error that leaves a handler: what operators read of it, and the mark of its line. */
type ErrorScenario = {
  readonly title: string
  readonly call: Call
  readonly reason: string
  /** Of what is wrong with a reply no line is known. */
  readonly mark: '@throw' | '@call' | undefined
  /** What it calls is of the trusted tier. */
  readonly trusted?: true
}

export const errors: readonly ErrorScenario[] = [
  {
    title: 'an error names its line',
    call: ['own.throw', ['no gold']],
    reason: 'no gold',
    mark: '@throw',
  },
  {
    title: 'of several lines it names the one nearest to the throw',
    call: ['own.inside', ['no gold']],
    reason: 'no gold',
    mark: '@throw',
  },
  {
    title: 'behind a wait it names its line as well',
    call: ['own.later', ['no gold']],
    reason: 'no gold',
    mark: '@throw',
  },
  {
    title: 'what is refused at once names the line that calls',
    call: ['send', ['x', 100, 'y']],
    reason: 'session must be',
    mark: '@call',
  },
  {
    title: 'what the node refuses names the line that waits',
    call: ['sleep', [0]],
    reason: 'ms must be',
    mark: '@call',
  },
  {
    title: 'what a feature refuses names the line that waits',
    call: ['wallet.adjust', ['nobody', 'gold', 1]],
    reason: 'no such account',
    mark: '@call',
    trusted: true,
  },
  {
    title: 'a reply that is no JSON is said by its place',
    call: ['own.odd', []],
    reason: 'the reply: hp[1] is NaN, which is no JSON',
    mark: undefined,
  },
  {
    title: 'an argument that is no JSON is said by its place',
    call: ['own.odd_argument', []],
    reason: 'json.encode: value.hp[1] is NaN, which is no JSON',
    mark: '@call',
  },
]

/** What never ends by itself. */
type Endless = { readonly title: string; readonly name: string; readonly waits?: true }

export const interrupted: readonly Endless[] = [
  { title: 'loops', name: 'own.loop' },
  { title: 'catches all that it raises', name: 'own.catch' },
  { title: 'loops in what sort calls', name: 'own.compare' },
  { title: 'sorts on and on', name: 'own.sort' },
  { title: 'decodes JSON on and on', name: 'own.decode' },
  { title: 'makes long texts on and on', name: 'own.repeat_' },
  { title: 'loops behind a wait', name: 'own.loop_later', waits: true },
]

export const tooLong: readonly Endless[] = [{ title: 'waits', name: 'own.wait' }]
