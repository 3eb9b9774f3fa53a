import { describe, expect, it } from 'vitest'
import type { ScriptSchedule } from '../../kernel/play/script.ts'
import { type HarnessOptions, shareHarness, startHarness } from '../host.fixture.ts'

const due = { name: 'cup.open', due_at_unix_ms: 1_763_700_000_000, fencing_token: 9 }

const javascript = `
  const seen = []
  guildhall.schedule('cup.open', '0 18 * * fri', async (run) => {
    await guildhall.session_list()
    seen.push(run.name, run.due_at_unix_ms, run.fencing_token)
  })
  guildhall.schedule('other', '*/5 * * * *', () => { throw new Error('no') })
  guildhall.on_rpc('seen', () => seen)`
const scripts: [string, string, NonNullable<HarnessOptions['config']>][] = [
  ['main.ts', javascript, {}],
  ['main.js', javascript, { tier: 'sandboxed' }],
  [
    'main.lua',
    `local seen = guildhall.json.array({})
    guildhall.schedule("cup.open", "0 18 * * fri", function(run)
      guildhall.session_list()
      table.insert(seen, run.name)
      table.insert(seen, run.due_at_unix_ms)
      table.insert(seen, run.fencing_token)
    end)
    guildhall.schedule("other", "*/5 * * * *", function() error("no") end)
    guildhall.on_rpc("seen", function() return seen end)`,
    {},
  ],
  [
    'main.py',
    `seen = []
@guildhall.schedule("cup.open", "0 18 * * fri")
async def cup(run):
    await guildhall.session_list()
    seen.extend([run.name, run.due_at_unix_ms, run.fencing_token])
def other(run):
    raise ValueError("no")
guildhall.schedule("other", "*/5 * * * *", other)
@guildhall.on_rpc("seen")
def show(ctx, body):
    return seen`,
    { memory_mb: 128 },
  ],
]

describe('schedules of a script', () => {
  it.each(scripts)(
    '[S-API-35] [S-LANG-2] are registered and run in %s',
    async (file, text, config) => {
      const served: (readonly ScriptSchedule[] | undefined)[] = []
      const { host, rpc } = await startHarness({
        files: { [file]: text },
        config,
        functions: { session_list: () => [] },
        serveSchedules: (schedules) => void served.push(schedules),
      })
      expect(served).toEqual([
        [
          { name: 'cup.open', cron: '0 18 * * fri' },
          { name: 'other', cron: '*/5 * * * *' },
        ],
      ])
      expect(host.describe().script?.hooks).toEqual(['schedule'])
      await host.events.deliver('schedule', JSON.stringify(due))
      expect(JSON.parse(String(await rpc('seen')))).toEqual(Object.values(due))
      const failing = host.events.deliver('schedule', JSON.stringify({ ...due, name: 'other' }))
      await expect(failing).rejects.toThrow('schedule ended as')
      // Another node may have a script that has it.
      const foreign = host.events.deliver('schedule', JSON.stringify({ ...due, name: 'foreign' }))
      await expect(foreign).rejects.toThrow('no schedule of this name')
      await host.stop()
      expect(served.at(-1)).toBeUndefined()
    },
  )

  const refused = [
    ["('', '* * * * *', () => {})", 'name must be'],
    ["('Upper', '* * * * *', () => {})", 'name must be'],
    [`('${'x'.repeat(65)}', '* * * * *', () => {})`, 'name must be'],
    ["(7, '* * * * *', () => {})", 'name must be'],
    ["('a', '* * * *', () => {})", 'no cron expression'],
    ["('a', '61 * * * *', () => {})", 'no cron expression'],
    ["('a', '0 0 30 feb *', () => {})", 'no cron expression'],
    ["('a', null, () => {})", 'no cron expression'],
    ["('a', '* * * * *')", 'not a function'],
    ["('a', '* * * * *', () => {}); guildhall.schedule('a', '1 * * * *', () => {})", 'is there'],
    ['(...[1]); for (const n of Array(1)) {}', 'not a function'],
  ] as const
  const attempts = refused.map(
    ([args]) => `
    try { guildhall.schedule${args}; said.push([]) } catch (error) {
      said.push([error.code, error.message])
    }`,
  )
  const shared = shareHarness({
    files: {
      'main.ts': `
        const said: string[][] = []
        ${attempts.join('')}
        guildhall.on_rpc('said', () => said)`,
    },
  })

  it.each(refused.map(([args, text], at) => [args, text, at] as const))(
    '[S-API-35] refuses guildhall.schedule%s',
    async (_args, text, at) => {
      const [code, message] = JSON.parse(String(await shared().rpc('said')))[at]
      expect(code).toBe('invalid_argument')
      expect(message).toContain(text)
    },
  )

  it('[S-API-35] takes a hundred names, and none once the script has started', async () => {
    const { rpc } = await startHarness({
      files: {
        'main.ts': `
          let said = 0
          const schedule = (name: string) => guildhall.schedule(name, '* * * * *', () => {})
          try { for (; said < 200; said += 1) schedule('n' + said) } catch {}
          guildhall.on_rpc('said', () => said)
          guildhall.on_rpc('late', () => {
            try { schedule('late') } catch (error) { return error.message }
          })`,
      },
    })
    expect(await rpc('said')).toBe('100')
    expect(await rpc('late')).toMatch('while the script starts')
  })
})
