import { api } from '@guildhall/contract'
import { renderReference } from '../../packages/server/src/config/reference.ts'
import { describeApi, openapiInfo } from '../../packages/server/src/kernel/http/openapi.ts'
import { version } from '../../packages/server/src/version.ts'
import { type Description, renderApiPage } from './api-page.ts'
import { renderLuaStub, renderPythonStub } from './guest-stubs.ts'
import { renderMetricsPage } from './metrics-page.ts'
import { renderRulesPage } from './rules-page.ts'
import { renderScriptPage } from './script-page.ts'
import { renderScriptTypes } from './script-types.ts'

const templates = '../packages/create-guildhall/templates'

/** Every page that follows from the code, by its file in `docs`. */
export function renderPages(): Readonly<Record<string, string>> {
  const openapi = JSON.stringify(describeApi(api, openapiInfo(version)), null, 1)
  const description: Description = JSON.parse(openapi)
  const stubs = { lua: renderLuaStub(), python: renderPythonStub() }
  return {
    'openapi.json': `${openapi}\n`,
    'api.md': renderApiPage(description),
    'configuration.md': renderReference(),
    'metrics.md': renderMetricsPage(),
    'script-reference.md': renderScriptPage(),
    '../packages/server/guildhall.d.ts': renderScriptTypes(),
    '../packages/server/guildhall.lua': stubs.lua,
    '../packages/server/guildhall.pyi': stubs.python,
    [`${templates}/lua/game/guildhall.lua`]: stubs.lua,
    [`${templates}/python/game/guildhall.pyi`]: stubs.python,
    'rules.md': renderRulesPage(),
  }
}
