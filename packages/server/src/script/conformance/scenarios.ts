import { stringifyExact, type Tournament, type TournamentState } from '@guildhall/contract'

/**
 * What every language does alike, as data: a row calls functions of `guildhall` one after another,
 * and says what each answers. The runner of each language interprets it (runners.ts); a row that
 * needs code of one language is none.
 */
export type Scenario = {
  readonly rule: string
  readonly title: string
  readonly steps: readonly Step[]
  /** Its functions are those of the trusted tier. */
  readonly trusted?: true
}

/** What a step shows where the languages may differ. */
export const anything = 'anything'

/** A call, and what is shown of it: `text ...`, JSON, `nil`, or `error CODE`. */
type Step = readonly [call: string, args: readonly Value[], shown: string]

/**
 * JSON, and what it cannot say: `$int` a 64-bit integer, `$float` a number that is no integer of
 * JSON, `$bytes` in hex, `$nil` what is not there, `$null` null, `$list` an empty list, `$last`
 * what the step before answered or, by its name, a member of that, `$surrogate` a text that ends
 * in half of a character, `$fn` a function, `$deep` lists in lists, `$cycle` a list that holds
 * itself.
 */
type Value = unknown

const nil = { $nil: true }
const none = { $null: true }
const last = { $last: true }
const int = (text: string) => ({ $int: text })
const again = (text: string, shown = text): Step[] => [
  ['json.decode', [text], shown],
  ['json.encode', [last], `text ${shown}`],
]
const refused = 'error invalid_argument'
const recorded = { duration_ms: 1000, filters: [{ kind: 100, direction: 'inbound' }] }

/** The tournament of the scenarios. */
export const drafted = {
  id: 'cup',
  leaderboard_id: 'weekly',
  registration_opens_at_unix_ms: 1,
  registration_closes_at_unix_ms: 2,
  starts_at_unix_ms: 3,
  ends_at_unix_ms: 4_000_000_000_000,
}
/** What the node answers about it. */
export const tournament = (state: TournamentState): Tournament => {
  const times = { created_at_unix_ms: 1, updated_at_unix_ms: 2 }
  return { ...drafted, state, settled_epoch_due_at_unix_ms: 5, ...times }
}

/** The one record of the board of the scenarios. */
export const record = {
  rank: 1,
  user_id: 'ö',
  score: 9_007_199_254_740_993n,
  subscore: 0n,
  metadata: { tags: [], of: null },
  updated_at_unix_ms: 5,
  submissions: 1,
}
const page = stringifyExact({ total: 1, items: [record] })

export const scenarios: readonly Scenario[] = [
  {
    rule: 'S-API-30',
    title: 'JSON comes back as it was',
    steps: [
      '{"a":[1,2,{"b":"ö"}]}',
      '[]',
      '{}',
      '{"a":[],"b":{}}',
      '[[],[[]]]',
      'true',
      '"x"',
    ].flatMap((text) => (text === '"x"' ? [] : again(text))),
  },
  {
    rule: 'S-LANG-1',
    title: 'integers of 64 bits are exact, and all others are floats',
    steps: [
      ...again('9007199254740993'),
      ...again('9223372036854775807'),
      ...again('-9223372036854775808'),
      ...again('[9223372036854775808]', '[9223372036854776000]'),
      ['json.encode', [{ a: int('9223372036854775807') }], 'text {"a":9223372036854775807}'],
    ],
  },
  {
    rule: 'S-LANG-1',
    title: 'whole floats are written as integers',
    steps: [
      ...again('1.0', '1'),
      ...again('1e3', '1000'),
      ...again('0.5'),
      ...again('-0', '0'),
      ['json.encode', [{ $float: '3.0' }], 'text 3'],
      ['json.encode', [{ $float: '-0.0' }], 'text 0'],
      ['json.encode', [{ $float: '-9007199254740992.0' }], 'text -9007199254740992'],
      ['json.encode', [{ $float: '9007199254740994.0' }], 'text 9007199254740994'],
      ['json.encode', [{ $float: '1e20' }], 'text 100000000000000000000'],
      ['json.encode', [{ $float: '1e21' }], 'text 1e+21'],
      ['json.encode', [{ $float: '1e300' }], 'text 1e+300'],
      ['json.encode', [{ $float: '5e-324' }], 'text 5e-324'],
    ],
  },
  {
    rule: 'S-API-30',
    title: 'what is no JSON is refused',
    steps: [
      ['json.encode', [{ $float: 'nan' }], refused],
      ['json.encode', [[{ $float: 'inf' }]], refused],
      ['json.encode', [{ $fn: true }], refused],
      ['json.encode', [{ a: { $surrogate: true } }], refused],
      ['json.encode', [{ $deep: 65 }], refused],
      ['json.encode', [{ $cycle: true }], refused],
      ['json.encode', [{ a: { $cycle: true } }], refused],
      ['json.decode', ['{'], refused],
      ['json.decode', [''], refused],
      ['json.decode', ['"\\ud800"'], refused],
      ['json.decode', [{ $bytes: 'ff' }], refused],
      ['json.decode', [`${'['.repeat(65)}${']'.repeat(65)}`], refused],
    ],
  },
  {
    rule: 'S-LANG-4',
    title: 'null inside of JSON stays null',
    steps: [...again('[null,1]'), ...again('{"a":null}'), ['json.decode', ['null'], 'nil']],
  },
  {
    rule: 'S-API-30',
    title: 'sixty-four levels are taken',
    steps: again(`${'['.repeat(64)}${']'.repeat(64)}`),
  },
  {
    rule: 'S-API-2',
    title: 'pack_u64 takes what fits',
    steps: [
      ['pack_u64', [0x61], 'text \0\0\0\0\0\0\0a'],
      ['pack_u64', [int('7017280452245743464')], 'text abcdefgh'],
      ['pack_u64', [-1], refused],
      ['pack_u64', [{ $float: '1.5' }], refused],
      ['pack_u64', ['1'], refused],
      ['pack_u64', [nil], refused],
    ],
  },
  {
    rule: 'S-API-6',
    title: 'kinds, bodies and options are checked at the call',
    steps: [
      ['broadcast', [100, 'x'], 'nil'],
      ['broadcast', [100, { $bytes: '00ff' }, nil, { except: [1], scope: 'all' }], 'nil'],
      ['broadcast', [99, 'x'], refused],
      ['broadcast', [65_536, 'x'], refused],
      ['broadcast', [100, 5], refused],
      ['broadcast', [100, 'x', 'yes'], refused],
      ['broadcast', [100, 'x', false, { nope: 1 }], refused],
      ['broadcast', [100, 'x', false, { scope: 'all', room_id: 1 }], refused],
      ['broadcast', [100, 'x', false, { except: ['a'] }], refused],
      ['send', [7, 100, 'x'], 'nil'],
      ['send', ['7', 100, 'x'], refused],
      ['send', [-1, 100, 'x'], refused],
    ],
  },
  {
    rule: 'S-LIM-3',
    title: 'a body of more than 64 KiB is refused',
    steps: [
      ['send', [7, 100, 'x'.repeat(65_536)], 'nil'],
      ['send', [7, 100, 'x'.repeat(65_537)], 'error limit_exceeded'],
    ],
  },
  {
    rule: 'S-API-9',
    title: 'timers take a time and a function',
    steps: [
      ['after', [86_400_000, { $fn: true }], '1'],
      ['cancel', [last], 'true'],
      ['cancel', [1], 'false'],
      ['every', [10_000, { $fn: true }], '2'],
      ['after', [0, { $fn: true }], refused],
      ['every', [9, { $fn: true }], refused],
      ['after', [1000, nil], refused],
      ['after', ['1000', { $fn: true }], refused],
      ['cancel', ['1'], refused],
    ],
  },
  {
    rule: 'S-API-28',
    title: 'a counter gives and refuses',
    steps: [
      ['allow', ['k', 1, 60_000], 'true'],
      ['allow', ['k', 1, 60_000], 'false'],
      ['allow', ['', 1, 60_000], refused],
      ['allow', ['k', 0, 60_000], refused],
    ],
  },
  {
    rule: 'S-LANG-4',
    title: 'a text is well formed',
    steps: [
      ['trace', ['ö 😀', 'debug'], 'nil'],
      ['trace', [{ $surrogate: true }], refused],
      ['trace', [5], refused],
      ['trace', ['x', 'loud'], refused],
    ],
  },
  {
    rule: 'S-LIM-6',
    title: 'handlers are registered at the top level only',
    steps: [
      ['on_rpc', ['late', { $fn: true }], refused],
      ['on_start', [{ $fn: true }], refused],
    ],
  },
  {
    rule: 'S-API-7',
    title: 'lists of rows are lists',
    steps: [
      ['session_list', [], '[]'],
      ['json.encode', [last], 'text []'],
      ['online', [['a', 'b']], '["a"]'],
      ['online', [{ $list: true }], '[]'],
    ],
  },
  {
    rule: 'S-API-34',
    title: 'sleep waits',
    steps: [
      ['sleep', [1], 'nil'],
      ['sleep', [0], refused],
    ],
  },
  {
    rule: 'S-API-2',
    title: 'balances are exact',
    trusted: true,
    steps: [
      ['wallet.get', ['user'], '{"gold":9007199254740993}'],
      [
        'wallet.adjust',
        ['user', 'gold', int('9007199254740993')],
        '{"balance":9007199254740993,"seq":1,"replayed":false}',
      ],
      ['wallet.adjust', ['user', 'gold', { $float: '0.5' }], refused],
      ['wallet.adjust', ['user', 'gold', 1, { nope: 1 }], refused],
      ['wallet.adjust', ['nobody', 'gold', 1], 'error not_found'],
    ],
  },
  {
    rule: 'S-LANG-4',
    title: 'nothing is null where null is taken',
    trusted: true,
    steps: [
      ['storage_write', [none, 'c', 'k', { a: [] }], '{"version":"null {\\"a\\":[]}"}'],
      [
        'storage_write',
        ['u', 'c', 'k', { a: null }, { version: '' }],
        '{"version":"\\"u\\" {\\"a\\":null}"}',
      ],
      ['storage_write', [none, 'c', 'k', [1]], refused],
      ['storage_read', [none, 'c', 'gone'], 'nil'],
    ],
  },
  {
    rule: 'L-START-1',
    title: 'captures are started, ended and looked at',
    trusted: true,
    steps: [
      [
        'lag.start',
        [{ room_id: 7, label: 'x', ...recorded }],
        '{"capture_id":"ab","started":[1],"skipped":[{"participant":2,"reason":"guest"}]}',
      ],
      ['lag.start', [{ room_id: 8, ...recorded }], 'error not_found'],
      ['lag.start', [{ room_id: 7, ...recorded, filters: { $list: true } }], refused],
      ['lag.start', [{ room_id: 7, ...recorded, more: 1 }], refused],
      ['lag.flush', ['ab'], 'error conflict'],
      ['lag.flush', [7], refused],
      ['lag.status', ['ab'], 'nil'],
    ],
  },
  {
    rule: 'S-API-38',
    title: 'a list of objects is asked for by options, and may be empty',
    trusted: true,
    steps: [
      ['storage_list', [none, 'c'], '{"items":[],"next":"system c  50"}'],
      [
        'storage_list',
        ['u', 'c', { prefix: 'p', limit: 1000, after: 'x' }],
        '{"items":[],"next":"u c p 200 x"}',
      ],
      ['storage_list', ['u', 'c', { cursor: 'x' }], refused],
      ['storage_list', ['u', 'c', { limit: -1 }], refused],
    ],
  },
  {
    rule: 'S-API-26',
    title: 'an answer is handed on as JSON where it is asked for raw',
    trusted: true,
    steps: [
      ['leaderboards.records', ['b', { limit: 1, raw: true }], `text ${page}`],
      ['json.decode', [last], page],
      ['leaderboards.records', ['b', { raw: false }], page],
      ['leaderboards.records', ['b', { raw: 'yes' }], refused],
      ['leaderboards.list', [{ raw: true }], 'text []'],
      ['leaderboards.list', [{ raw: 1 }], refused],
      ['leaderboards.get', ['b', 'nobody', { raw: true }], 'text null'],
      ['leaderboards.get', ['b', 'nobody', { as: 'raw' }], refused],
      ['storage_read', [none, 'c', 'gone', { raw: true }], 'text null'],
    ],
  },
  {
    rule: 'S-API-33',
    title: 'bytes inside of an answer are bytes',
    trusted: true,
    steps: [
      // JSON has no bytes, and in Lua they are texts.
      ['http.fetch', [{ url: 'http://example.com/' }], anything],
      ['json.decode', [{ $last: 'body' }], '{"of":["ö",9007199254740993]}'],
    ],
  },
  {
    rule: 'S-IX-6',
    title: 'a query has values, a range and an order',
    trusted: true,
    steps: [
      [
        'storage_index_query',
        ['i', { a: 'x', b: { gte: 1, lt: int('9007199254740993') } }, { order: '-b' }],
        JSON.stringify({
          items: [],
          next: 'i -b {"a":"x","b":{"gte":1,"lt":9007199254740993}}',
        }),
      ],
      ['storage_index_query', ['i', { b: { above: 1 } }], refused],
      ['storage_index_query', ['i', { b: [1] }], refused],
    ],
  },
  {
    rule: 'S-API-36',
    title: 'tournaments and boards are made and moved on',
    trusted: true,
    steps: [
      ['tournaments.create', [{ id: 'cup' }], refused],
      ['tournaments.create', [drafted], JSON.stringify(tournament('draft'))],
      ['tournaments.transition', ['cup', 'running'], JSON.stringify(tournament('running'))],
      ['tournaments.transition', ['cup', 'over'], refused],
      ['leaderboards.delete', ['gone'], 'false'],
    ],
  },
]
